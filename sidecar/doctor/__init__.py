"""Tell what is wrong with a folder's sidecar, and what mends it: reads only, and works when everything is broken."""
