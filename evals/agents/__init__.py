"""A scripted agent: picks a tool and fills its arguments from what the server says of its tools, and no more."""
