"""The script that the launcher runs: one path, and the hook from a module that was compiled at install.

Whatever is broken in there, the session must not notice.
"""

try:
    import sys

    sys.path.insert(0, __file__[: -len("/recall/hook_main.py")])

    from recall.hook import main

    main(sys.argv)
except BaseException:
    pass
