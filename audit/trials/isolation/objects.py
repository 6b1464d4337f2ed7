"""What a host has: objects that are sent to it once, and handles of those that only it has."""

from __future__ import annotations

import io
import pickle
import weakref
from collections.abc import Callable, Iterable
from typing import Any

from dpassay.trials.isolation.limits import Unsent


class Handle:
    """Something that only a host has, and forgets when nobody refers to it here any more."""

    __slots__ = ("__weakref__", "key", "owner")

    def __init__(self, owner: Objects, key: int) -> None:
        self.owner = owner
        self.key = key


class _Pickler(pickle.Pickler):
    """Names what a host has already."""

    def __init__(self, file: io.BytesIO, name: Callable[[Any], int | None]) -> None:
        super().__init__(file, protocol=5)
        self.persistent_id = name  # type: ignore[method-assign]


class Objects:
    """The objects that a host has, by the keys under which it has them."""

    def __init__(self, shared: Iterable[Any]) -> None:
        self._known: dict[int, tuple[int, Any]] = {
            id(each): (key, each) for key, each in enumerate(shared)
        }
        self._keys = len(self._known)
        self._forgotten: list[int] = []

    def by_key(self) -> dict[int, Any]:
        """Return those that it has from the start, by their keys."""
        return dict(self._known.values())

    def handle(self) -> Handle:
        """Return what will stand here for something that the host is to keep."""
        self._keys += 1
        found = Handle(self, self._keys)
        weakref.finalize(found, self._forgotten.append, found.key).atexit = False
        return found

    def written(self, operation: str, arguments: tuple[Any, ...], known: Iterable[Any]) -> Any:
        """Return the bytes that ask the host something; see `dpassay.trials.isolation.host`.

        `Unsent` says that an argument cannot be pickled.
        """
        once = {id(each): each for each in known if id(each) not in self._known}
        new = {self._keys + k: each for k, each in enumerate(once.values(), 1)}
        keys = {id(each): key for key, each in new.items()}

        def name(thing: Any) -> int | None:
            if isinstance(thing, Handle):
                if thing.owner is not self:
                    raise TypeError("a state of a process that is gone")
                return thing.key
            return self._key(thing) if id(thing) in self._known else keys.get(id(thing))

        content = io.BytesIO()
        try:
            _Pickler(content, self._key).dump(new)
            _Pickler(content, name).dump((operation, arguments, list(self._forgotten)))
        except (pickle.PicklingError, AttributeError, TypeError, RecursionError) as error:
            raise Unsent(" ".join(str(error).split())) from None
        self._keys += len(new)
        self._forgotten.clear()
        for key, each in new.items():
            self._remember(each, key)
        return content.getbuffer()

    def _key(self, thing: Any) -> int | None:
        return self._known.get(id(thing), (None,))[0]

    def _remember(self, thing: Any, key: int) -> None:
        try:
            weakref.finalize(thing, self._forget, id(thing)).atexit = False
        except TypeError:  # kept as long as the host is
            self._known[id(thing)] = (key, thing)
        else:
            self._known[id(thing)] = (key, None)

    def _forget(self, place: int) -> None:
        self._forgotten.append(self._known.pop(place)[0])
