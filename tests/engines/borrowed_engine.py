"""A further engine, as one that samples elsewhere would look: nothing of `Chain` is inherited."""

from citeweave.engines.core.capabilities import SEQUENTIAL, Capabilities
from citeweave.engines.core.data import Request
from citeweave.engines.dense.chain import DenseChain


class BorrowedChain:
    """Hands all on to a chain that it holds."""

    capabilities = Capabilities(SEQUENTIAL, device="elsewhere", place="elsewhere", one_chain=True)

    def __init__(self, request: Request):
        self.capabilities.check(request.spec, request.settings.topics)
        self._chain = DenseChain.open(request)

    @classmethod
    def probe(cls):
        return "another machine"

    @classmethod
    def open(cls, request):
        return cls(request)

    def __getattr__(self, name):
        return getattr(self._chain, name)
