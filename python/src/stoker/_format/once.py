"""An attribute that is made when it is wanted for the first time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")


class once(Generic[T]):  # noqa: N801 - a decorator
    """`functools.cached_property` without a lock.

    Before Python 3.12 that has one lock for all instances. A process that is forked while another thread holds the lock
    waits for it for ever. Several threads at a time may make the value, and one of the values stays.
    """

    def __init__(self, make: Callable[[Any], T]) -> None:
        self._make = make
        self.__doc__ = make.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> once[T]: ...
    @overload
    def __get__(self, instance: object, owner: type) -> T: ...
    def __get__(self, instance: object, owner: type) -> once[T] | T:
        if instance is None:
            return self
        # `instance.__dict__` comes before this attribute from now on.
        value = self._make(instance)
        instance.__dict__[self._name] = value
        return value
