"""recall for agents over the Model Context Protocol: four tools that read.

`tools.py` says what can be asked, `answers.py` answers in text, `server.py` speaks the protocol over stdin and stdout and
is the one module that needs the package `mcp`.
"""
