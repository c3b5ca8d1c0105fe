# SPDX-License-Identifier: Apache-2.0
"""Functions of each kind, to be traced from outside."""


def plain(a, b=2, *rest, key=3):
    """Its text."""
    return a, b, rest, key


plain.mark = 'kept'


def fails():
    raise ValueError('as it was')


def steps(n):
    """A generator that is sent values, thrown errors, and returns one."""
    got = []
    for i in range(n):
        try:
            got.append((yield i))
        except KeyError:
            got.append('thrown')
    return got


async def waits(n):
    total = 0
    for i in range(n):
        await Once()
        total += i
    return total


class Once:
    def __await__(self):
        yield


class Base:
    def inherited(self):
        return type(self).__name__


class Thing(Base):
    def method(self, x):
        return x * 2

    @classmethod
    def made(cls):
        return cls.__name__

    @staticmethod
    def still(x):
        return x + 1


async def produces():
    yield 1
