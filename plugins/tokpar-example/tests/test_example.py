import tokpar_conformance as testing
import tokpar_example as example


def test_every_part_conforms():
    testing.check_tokenizer(example.Letters())
    testing.check_splitter(example.LineSplitter(chunk_chars=3))
    testing.check_merger(example.EdgeMerger())
    testing.check_executor(example.PoolExecutor(workers=2))
    testing.check_strategy("lines")
