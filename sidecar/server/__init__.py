"""The MCP server: an adapter of `sidecar.provider`. The only package that imports the MCP SDK."""
