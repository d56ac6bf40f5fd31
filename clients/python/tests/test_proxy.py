"""Wrapped objects behave as what they stand for."""

SHOP = """
    import holdpoint, asyncio, copy, pickle
    holdpoint.with_debug("ON")

    class Cart:
        kind = "cart"
        def __init__(self, items=()): self.items = list(items)
        def add(self, item): self.items.append(item); return self
        def total(self, *, each=2): return each * len(self.items)
        async def ship(self): return "shipped %d" % len(self.items)
        @staticmethod
        def vat(): return 19
        @classmethod
        def empty(cls): return cls()
        def __len__(self): return len(self.items)
        def __iter__(self): return iter(self.items)
        def __contains__(self, item): return item in self.items
        def __getitem__(self, at): return self.items[at]
        def __setitem__(self, at, item): self.items[at] = item
        def __delitem__(self, at): del self.items[at]
        def __enter__(self): return self
        def __exit__(self, *error): return True
        def __eq__(self, other): return self.items == other.items
        def __hash__(self): return 7
        def __add__(self, other): return Cart(self.items + list(other))
        def __repr__(self): return "Cart%r" % (self.items,)

    cart = holdpoint.with_debug(Cart(["pen"]))
"""


def test_an_object_behaves_as_before(standin, app):
    run = app(
        SHOP
        + """
    assert cart.add("ink").add("cap") is not None
    assert cart.total(each=3) == 9 and len(cart) == 3 and bool(cart)
    assert list(cart) == ["pen", "ink", "cap"] and "pen" in cart and cart[0] == "pen"
    cart[0] = "pencil"; del cart[1]
    assert cart.items == ["pencil", "cap"]
    cart.items = ["new"]; assert cart.items == ["new"]
    cart.extra = 5; assert cart.extra == 5; del cart.extra
    assert isinstance(cart, Cart) and cart.__class__ is Cart and cart.kind == "cart"
    assert repr(cart) == str(cart) == "Cart['new']" and hash(cart) == 7
    assert cart == Cart(["new"]) and Cart(["new"]) == cart
    with cart as inner: raise ValueError("swallowed")
    assert inner.total() == 2
    assert (cart + ["x"]).items == ["new", "x"]
    assert cart.vat() == 19 and cart.empty().items == []
    assert asyncio.run(cart.ship()) == "shipped 1"
    assert copy.deepcopy(cart).items == ["new"] and pickle.loads(pickle.dumps(cart)).items == ["new"]
    assert holdpoint.with_debug(cart) is cart
    assert not hasattr(cart, "nothing")
    assert "total" in dir(cart)
    try: cart.missing
    except AttributeError as error: print(error)
    class Blind: pass
    assert bool(holdpoint.with_debug(Blind()))
    try: len(holdpoint.with_debug(Blind()))
    except TypeError as error: print("no len")
    """,
        url=standin.url,
    )
    assert run.end() == ["'Cart' object has no attribute 'missing'", "no len"]
    names = [record["method_name"] for record in standin.records]
    for name in ("add", "total", "ship", "vat", "__len__", "__iter__", "__getitem__", "__enter__", "__exit__", "__add__"):
        assert "Cart." + name in names, name
    assert "Cart.__repr__" not in names and "Cart.__eq__" not in names
    missing = [event["method_name"] for event in standin.events if event["status"] == "exception"]
    assert missing == ["__getattr__('nothing')", "__getattr__('missing')"]
    assert {"Cart.add", "Cart.total", "Cart.ship"} <= set(standin.functions)


def test_a_proxy_inside_an_argument_is_pickled_as_the_object(standin, app):
    """Another client once deadlocked here: a proxy's repr entered the serializer again."""
    run = app(
        SHOP
        + """
    @holdpoint.debug
    def look(thing, more): return repr(thing)
    print(look([cart, {"cart": cart}], cart))
    """,
        url=standin.url,
    )
    assert run.end() == ["[Cart['pen'], {'cart': Cart['pen']}]"]
    [record] = [record for record in standin.records if record["method_name"] == "look"]
    assert b"Proxy" not in standin.values[record["args"][0]]
    assert b"Cart" in standin.values[record["args"][1]]


def test_classes_modules_and_callables(standin, app):
    run = app(
        SHOP
        + """
    import json
    Made = holdpoint.with_debug(Cart)
    thing = Made(["a"])
    print(type(thing) is Cart, isinstance(thing, Made), Made.kind, Made.vat())
    class Sub(Made): pass
    print(Sub.__mro__[1] is Cart)
    print(holdpoint.with_debug(json).dumps([1]))
    class Model:
        def __call__(self, x): return x + 1
    class AsyncModel:
        async def __call__(self, x): return x + 2
    print(holdpoint.with_debug(Model())(1), holdpoint.with_debug(("m", Model()))(2))
    print(asyncio.run(holdpoint.with_debug(AsyncModel())(1)))
    """,
        url=standin.url,
    )
    assert run.end() == ["True True cart 19", "True", "[1]", "2 3", "3"]
    names = [record["method_name"] for record in standin.records]
    assert names == ["Cart", "Cart.vat", "json.dumps", "Model.__call__", "m", "AsyncModel.__call__"]


def test_a_decorated_class_and_sorts_of_functions(standin, app):
    run = app(
        """
    import holdpoint, inspect, asyncio, contextlib

    @holdpoint.debug
    class Shop:
        def __init__(self, name): self.name = name
        def open(self): return self.name
        @staticmethod
        def tax(x): return x
        @classmethod
        def make(cls): return cls("made")

    @holdpoint.debug("renamed")
    def plain(a, b=1): "doc"; return a
    @holdpoint.debug
    async def coroutine(): return 1
    @holdpoint.debug
    def generator():
        got = yield 1
        yield got
    @holdpoint.debug
    async def async_generator():
        try:
            yield 1
        except KeyError:
            yield "caught"

    @contextlib.asynccontextmanager
    @holdpoint.debug
    async def managed():
        try: yield "in"
        except ValueError: print("cleaned")

    holdpoint.with_debug("ON")
    assert inspect.iscoroutinefunction(coroutine) and inspect.isgeneratorfunction(generator)
    assert inspect.isasyncgenfunction(async_generator)
    for f in (plain, coroutine, generator, async_generator):
        assert f.__globals__ is globals() and f.__module__ == "__main__"
    assert plain.__name__ == "plain" and plain.__doc__ == "doc" and str(inspect.signature(plain)) == "(a, b=1)"
    print(Shop.make().open(), Shop.tax(3), plain(4), asyncio.run(coroutine()))
    g = generator(); print(next(g), g.send("sent"), list(g))
    async def drain():
        g = async_generator()
        print(await g.__anext__(), await g.athrow(KeyError("x")), [x async for x in g])
        async with managed() as inside: raise ValueError(inside)
    asyncio.run(drain())
    """,
        url=standin.url,
    )
    assert run.end() == ["made 3 4 1", "1 sent []", "1 caught []", "cleaned"]
    names = [record["method_name"] for record in standin.records]
    assert names == [
        "Shop.__init__",
        "Shop.make",
        "Shop.open",
        "Shop.tax",
        "renamed",
        "coroutine",
        "generator",
        "async_generator",
        "managed",
    ]
