"""Our own texts, with which the part vocabularies were cut: they have their real ids."""

from __future__ import annotations

Text = str | list[tuple[str, int]]
"""A plain text, or its runs: [("1", 400)] is "1" * 400."""

RUNS: list[Text] = [
    [("1", 257)],
    [("a", 257)],
    [("A", 257)],
    [("=", 257)],
    [("\n", 257)],
    [(" ", 300)],
    [("-", 200)],
    [("-", 150)],
    [("-", 50)],
    [("_", 130)],
    [("#", 130)],
    [("*", 130)],
    [(".", 130)],
    [("\t", 130)],
    [("\0", 20)],
    [("x", 1), (" ", 256), ("x", 1)],
    [("x", 1), (" ", 600), ("y", 1)],
    [("ha ", 60)],
    [("ab", 150)],
    [("abcabd", 50)],
    [("ACGT", 60)],
    [("the", 50)],
    [("abcd", 50)],
    [("unbelievable", 10)],
    [("the ", 40)],
    [("😀", 60)],
    [("中", 120)],
    [("é", 60)],
    [("3", 600), ("10", 1), ("3", 4)],
    [("３", 600), ("１０", 1), ("３", 4)],
    [("３", 500), ("１０", 1), ("３", 4)],
    [("３", 400)],
    [("७", 600), ("२०", 1), ("७", 4)],
    [("७", 500), ("२०", 1), ("७", 4)],
    [("७", 400)],
    [("a", 1), ("中", 600), ("亚洲AVx", 1)],
    [("中", 500), ("亚洲AVx", 1)],
    [("a", 1), ("中", 399)],
    [('"', 1), ("a b ", 100), ('"', 1)],
]

CATALOGUE: list[Text] = [
    "",
    "google.com",
    "end.\n\nNext",
    "a \n b",
    "a \nb",
    "1234",
    "1234567",
    "f(x)",
    " the",
    "the",
    "..",
    "...",
    "I'm",
    "I'M",
    "don't",
    "don'T we'll you've they're she'd it's",
    "a\n \nb",
    ".\n/",
    " \n  \n",
    "\t中文",
    "亚洲AVx",
    " contin",
    " conti",
    "contin",
    "ntin",
    "글 🫠中",
    "글 🫠",
    "🫠中",
    "1\U000125c4111",
    "\U000161391111",
    "foo\u2e43bar",
    "foo\u061dbar",
    "foo\x0bbar foo\x0cbar foo\x85bar",
    "a(b) c",
    "hello| world",
    "a  ",
    "  a",
    "cbcb",
    "unbelievable",
    "e\u0301 \u00e9 가\u11a8 각 \u09c7\u09be \u09cb",
    "ΑΣ ας Ǆ ﬁ ſ İ ı ß ẞ",
    "a\u200db\u200cc\ufeffd\u2028e\u2029f\u00a0g\u3000h",
    "\ufffd\U0010ffff\ue000",
    "0x1F600 1,234,567.89 -42 3.14e-10 ½ ² Ⅷ 一二三",
    "👩‍👩‍👧‍👦 👍🏽 🇫🇷🇯🇵 ❤️‍🔥 🏳️‍🌈 1️⃣ 🤷🏻‍♀️ ☕️ 🫠😀😂🥲🎉",
    "Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍A̴̵̜̰͔ͫ͗͢L̠ͨͧͩ͘G̴̻͈͍͔̹̑͗̎̅͛́Ǫ̵̹̻̝̳͂̌̌͘!͖̬̰̙̗̿̋ͥͥ̂ͣ̐́́͜͞",
    "aGVsbG8gd29ybGQsIHRoaXMgaXMgYmFzZTY0IGVuY29kZWQgdGV4dA==",
    "d41d8cd98f00b204e9800998ecf8427e",
    "https://example.org/a/b?c=d&e=%20f#g user.name+tag@mail.example.com C:\\Users\\x\\y.txt",
    "a  <｜end▁of▁sentence｜> b<｜end▁of▁sentence｜>",
    "<｜begin▁of▁sentence｜><｜User｜>Hi there!<｜Assistant｜>Hello<|EOT|>",
    " <｜fim▁hole｜>x<｜▁pad▁｜>",
    "a <s>",
    "<s> b</s>",
    "foo[MASK]bar [CLS] baz [SEP]",
    "one <|endoftext|> two",
    "|---|:--:|---:|\n| a | b | c |\n\n***bold*** `code` ~~~ ### \r\n\r\n\r \t\t\n",
]

ENGLISH = """\
The lighthouse keeper wrote down the weather every evening, and he had done so for thirty-one \
years. On the first page of each notebook there was a date, a small drawing of the harbour and \
one sentence that he thought was worth keeping. Most of the sentences were about the sea. "It was \
quiet," says the one from March 4th, "and I could hear the bell of the church across the water."

Nobody knew that the notebooks existed until the house was sold. The new owners, a young couple \
from the city, found them in a wooden box under the stairs; they didn't throw them away. They \
couldn't read all of the handwriting, but they understood enough to see what it was: a record of \
wind, rain, temperature and light, without a single day missing. A university library made copies \
of everything, and a group of students began to type the numbers into a computer.

What can be learned from such a record? First, that storms in the 1950s were not stronger than \
today, although people remember them that way. Second, that the average temperature in January \
has risen by about 1.4 degrees. Third, and this is perhaps the most important result, that a \
careful person with a pencil may do better work than an expensive machine that nobody checks. \
There are gaps in the official data whenever the station lost power; there are none in the books.

The project isn't finished. We're still looking for people who'd like to help: you'll need about \
two hours a week, a good screen, and some patience. If you've never worked with old documents \
before, don't worry, because somebody will always be there to answer questions. I'm convinced \
that it's worth the time. Please write to the address below (letters only, no telephone calls).

Information processing, unlike conversation, rewards those who continue in silence. International \
organizations, government departments and private companies have different requirements, however \
similar their mathematical foundations. An encyclopedia of unbelievable misunderstandings would \
contain characteristically straightforward explanations; \
nevertheless, antidisestablishmentarianism \
remains the longest word that most English speakers can recite. THE QUICK BROWN FOX JUMPS OVER THE \
LAZY DOG. The quick brown fox jumps over the lazy dog 1234567890 times; Sphinx of black quartz, \
judge my vow!  Two spaces follow a full stop.  See also: appendix A, pp. 12-34; cf. "Notes" [5].
"""

PYTHON = '''\
from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Edge:
    """One directed edge of a weighted graph."""

    source: str
    target: str
    weight: float = 1.0


class Graph:
    def __init__(self, edges: Iterable[Edge] = ()) -> None:
        self._edges: dict[str, list[Edge]] = {}
        for edge in edges:
            self._edges.setdefault(edge.source, []).append(edge)

    def neighbours(self, node: str) -> Iterator[Edge]:
        yield from self._edges.get(node, [])

    def shortest_path(self, start: str, goal: str) -> list[str]:
        # Dijkstra's algorithm; raises KeyError if there is no path.
        queue, seen = [(0.0, start, [start])], set()
        while queue:
            cost, node, path = heapq.heappop(queue)
            if node == goal:
                return path
            if node in seen:
                continue
            seen.add(node)
            for edge in self.neighbours(node):
                if edge.weight < 0:
                    raise ValueError(f"negative weight: {edge.weight!r}")
                heapq.heappush(queue, (cost + edge.weight, edge.target, path + [edge.target]))
        raise KeyError(goal)


if __name__ == "__main__":
    graph = Graph([Edge("a", "b"), Edge("b", "c", 2.5), Edge("a", "c", weight=10)])
    assert graph.shortest_path("a", "c") == ["a", "b", "c"]
    print("%d nodes, %s" % (3, {x ** 2 for x in range(10) if x % 2 != 0}))
'''

OTHER_CODE = """\
#include <stdio.h>
int main(int argc, char **argv) {
\tfor (int i = 1; i < argc; ++i) {
\t\tprintf("%s\\n", argv[i]);  /* one per line */
\t}
\treturn 0;
}

export async function fetchAll(urls, {retries = 3} = {}) {
    const results = await Promise.all(urls.map((url) => fetch(url).then((r) => r.json())));
    return results.filter((x) => x !== null && x?.length > 0); // keep non-empty
}

<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"/><title>Test &amp; more</title></head>
<body class="main"><p id="p1">Hello, <b>world</b>!</p><script src="/js/app.min.js"></script></body>
</html>

{"name": "example", "version": "1.0.2", "tags": ["x", "y"], "nested": {"null": null, "ok": true}}

SELECT id, COUNT(*) AS n FROM users WHERE created_at >= '2024-01-31' GROUP BY id ORDER BY n DESC;

$ sudo apt-get install -y python3 && cd ~/projects && git commit -m "Fix #123" --no-verify
"""

LANGUAGES: list[str] = [
    (
        "灯塔看守人每天晚上都记录天气，三十一年来从未间断。每本笔记的第一页上都有日期、一幅港口的小画，"
        "还有一句他认为值得保留的话。大部分句子都是关于大海的：“今天很安静，我能听见对岸教堂的钟声。”\n"
        "没有人知道这些笔记的存在，直到房子被卖掉。我们从这些记录中可以学到什么？第一，二十世纪五十年代的"
        "风暴并不比今天更强；第二，一月份的平均气温上升了1.4度。中国的人工智能技术发展很快，北京、上海和"
        "亚洲其他城市都有研究机构。请在2024年5月31日以前写信给我们！"
    ),
    "燈塔看守人每天晚上都記錄天氣。臺灣的圖書館複製了所有的資料，學生們開始把數字輸入電腦。",
    (
        "灯台守は毎晩、天気を書き留めていました。ノートの最初のページには日付と港の小さな絵があります。"
        "「とても静かで、教会の鐘が聞こえた」と書いてあります。コンピュータにデータを入力します。"
    ),
    (
        "등대지기는 매일 저녁 날씨를 기록했습니다. "
        "공책의 첫 페이지에는 날짜와 항구의 작은 그림이 있었습니다. "
        "안녕하세요, 대한민국에서 만나서 반갑습니다!"
    ),
    ("ผู้ดูแลประภาคารจดบันทึกสภาพอากาศทุกเย็น และเขาทำเช่นนั้นมาเป็นเวลาสามสิบเอ็ดปี ภาษาไทยไม่มีช่องว่างระหว่างคำ"),
    (
        "प्रकाशस्तंभ का रखवाला हर शाम मौसम का हाल लिखता था। पहले पन्ने पर तारीख और एक छोटा चित्र था। "
        "भारत की राजधानी नई दिल्ली है।"
    ),
    (
        "كان حارس المنارة يكتب حالة الطقس كل مساء، وقد فعل ذلك لمدة ٣١ عامًا. لا أحد يعرف "
        "أن هذه الدفاتر موجودة. مرحبا بالعالم!"
    ),
    "שומר המגדלור רשם את מזג האוויר בכל ערב. שלום עולם!",
    (
        "Смотритель маяка каждый вечер записывал погоду. Никто не знал, "
        "что эти тетради существуют, "
        "пока дом не был продан. Что можно узнать из таких записей?"
    ),
    (
        "Der Leuchtturmwärter schrieb jeden Abend das Wetter auf; "
        "größere Stürme gab es früher nicht. "
        "Straßenbahnhaltestelle, Donaudampfschifffahrtsgesellschaft."
    ),
    (
        "Le gardien du phare notait le temps chaque soir, et personne ne savait que ces cahiers "
        "existaient. « Qu’est-ce que c’est ? » Où êtes-vous, garçon ?"
    ),
    (
        "El guardián del faro anotaba el tiempo cada noche. "
        "¿Qué se puede aprender? ¡Mañana será otro año!"
    ),
    (
        "O faroleiro escrevia todas as noites; não é possível. Il guardiano del faro perché città. "
        "Strażnik latarni morskiej zapisywał pogodę. Người gác hải đăng ghi lại thời tiết mỗi tối. "
        "Deniz feneri bekçisi her akşam havayı yazardı. Ο φαροφύλακας έγραφε τον καιρό κάθε βράδυ."
    ),
]

PROSE: list[Text] = [ENGLISH, PYTHON, OTHER_CODE, *LANGUAGES]


def catalogue() -> list[Text]:
    """All texts."""
    return [*CATALOGUE, *PROSE, *RUNS]


def expand(text: Text) -> str:
    """The text itself: [("ab", 2), ("c", 1)] -> "ababc"."""
    return text if isinstance(text, str) else "".join(unit * count for unit, count in text)
