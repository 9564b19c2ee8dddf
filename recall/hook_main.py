"""The script that the launcher runs: one path, and the hook from a module that was compiled at install.

Whatever is broken in there, the session must not notice.
"""

try:
    import sys

    class _Environment:
        """What `os.environ` inherits here.

        `os` takes its base from `_collections_abc`, whose 25 abstract classes cost more than all that the hook does
        besides. What imports that module later gets the real one.
        """

        def __contains__(self, key: str) -> bool:
            return self.get(key) is not None

        def get(self, key: str, default: "str | None" = None) -> "str | None":
            try:
                return self[key]  # type: ignore[index,no-any-return]
            except KeyError:
                return default

        def keys(self) -> "list[str]":
            return list(self)  # type: ignore[call-overload,no-any-return]

        def items(self) -> "list[tuple[str, str]]":
            return [(key, self[key]) for key in self]  # type: ignore[index,attr-defined]

    if "_collections_abc" not in sys.modules:
        names = type(sys)("_collections_abc")
        vars(names).update(Mapping=_Environment, MutableMapping=_Environment, _check_methods=None)
        sys.modules["_collections_abc"] = names
        try:
            import os  # noqa: F401
        except Exception:
            pass  # another Python, which wants more of it: at the next import it gets all
        finally:
            del sys.modules["_collections_abc"]

    sys.path.insert(0, __file__[: -len("/recall/hook_main.py")])

    from recall.hook import main

    main(sys.argv)
except BaseException:
    pass
