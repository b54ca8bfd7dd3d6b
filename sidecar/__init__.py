"""From the store to an answer: recall with a floor and a receipt, over MCP, a command line and Python."""
