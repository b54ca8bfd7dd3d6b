"""`sidecar explore`: pages on this machine to look at the records. Nothing here changes one."""
