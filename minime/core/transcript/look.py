"""How the page looks: one style sheet, for wide and narrow windows, light and dark, screen and paper."""

STYLE = """
:root { color-scheme: light dark;
  --paper: #fbfaf8; --ink: #1f2328; --soft: #5f6670; --faint: #8b929c; --line: #e3e0da; --card: #f3f0ea;
  --accent: #0b6e69; --ask: #e7f1ef; --good: #1a7f37; --bad: #b42318; --bad-paper: #fdf0ee;
  --add: #e3f5e6; --add-ink: #0f5d27; --cut: #fce8e6; --cut-ink: #8c1d13;
  --word: #8a3ffc; --text: #0a5b8c; --number: #9a4b00; --note: #6b7280;
  --sans: ui-sans-serif, system-ui, -apple-system, "Segoe UI", "Noto Sans", "DejaVu Sans", sans-serif;
  --mono: ui-monospace, "SF Mono", "Cascadia Code", "JetBrains Mono", "DejaVu Sans Mono", Menlo, Consolas,
    monospace; }
@media (prefers-color-scheme: dark) { :root {
  --paper: #15181c; --ink: #dfe3e8; --soft: #a0a8b3; --faint: #78818d; --line: #2c323a; --card: #1d2127;
  --accent: #5cc8bf; --ask: #18302f; --good: #56d364; --bad: #ff8b80; --bad-paper: #341c1a;
  --add: #12301b; --add-ink: #8ee8a2; --cut: #3a1a18; --cut-ink: #ffb3ab;
  --word: #c4a5ff; --text: #8accf5; --number: #f0b072; --note: #8b93a0; } }
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; scroll-behavior: smooth; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 1rem/1.65 var(--sans); }
main, header, footer { display: grid; padding: 0 1.1rem;
  grid-template-columns: minmax(0, 46rem); justify-content: center; }
header { padding-top: 2.2rem; }
h1 { margin: 0 0 .6rem; font-size: 1.75rem; line-height: 1.25; letter-spacing: -.015em; text-wrap: balance;
  overflow-wrap: anywhere; }
.facts { display: flex; flex-wrap: wrap; gap: .15rem 1.4rem; margin: 0 0 1.2rem; padding: 0;
  color: var(--soft); font-size: .82rem; }
.facts div { display: flex; gap: .4rem; min-width: 0; }
.facts dt { color: var(--faint); } .facts dd { margin: 0; overflow-wrap: anywhere; }
.turn { border-top: 1px solid var(--line); padding: 1.6rem 0 1rem; min-width: 0; }
.number { color: var(--faint); font-size: .8rem; text-decoration: none; font-variant-numeric: tabular-nums; }
.number:hover { color: var(--accent); }
.ask { margin: .3rem 0 1.1rem; padding: .75rem 1rem; background: var(--ask); border-radius: .6rem;
  border-left: 3px solid var(--accent); font-weight: 500; }
.ask details { font-weight: 400; }
figure { margin: .6rem 0 0; }
img { display: block; max-width: 100%; max-height: 34rem; border-radius: .4rem; }
figcaption { color: var(--soft); font-size: .8rem; font-weight: 400; overflow-wrap: anywhere; }
.typed { white-space: pre-wrap; }
p { margin: .7em 0; overflow-wrap: anywhere; } .ask > p, li > p:first-child { margin: 0; }
h3, h4, h5, h6 { margin: 1.5em 0 .5em; line-height: 1.3; overflow-wrap: anywhere; }
h3 { font-size: 1.22rem; } h4 { font-size: 1.08rem; } h5, h6 { font-size: 1rem; }
a { color: var(--accent); text-underline-offset: .15em; }
ul, ol { padding-left: 1.5rem; margin: .6em 0; } li { margin: .2em 0; overflow-wrap: anywhere; }
blockquote { margin: .8em 0; padding: 0 1rem; border-left: 3px solid var(--line); color: var(--soft); }
hr { border: 0; border-top: 1px solid var(--line); margin: 1.6em 0; }
code { font: .875em/1.5 var(--mono); background: var(--card); padding: .12em .35em; border-radius: .3em;
  overflow-wrap: anywhere; }
pre { margin: .8em 0; padding: .8rem 1rem; background: var(--card); border: 1px solid var(--line);
  border-radius: .5rem; overflow: auto; max-height: 34rem; font: .82rem/1.55 var(--mono); tab-size: 4; }
pre code { display: inline-block; min-width: 100%; background: none; padding: 0; border-radius: 0;
  font: inherit; overflow-wrap: normal; }
li.task { list-style: none; margin-left: -1.3rem; }
pre.result { white-space: pre-wrap; overflow-wrap: anywhere; }
pre[data-language]::before { content: attr(data-language); float: right; margin-left: 1rem;
  color: var(--faint); font: .72rem/1.6 var(--sans); }
.wide { overflow-x: auto; margin: .8em 0; }
table { border-collapse: collapse; font-size: .92rem; }
th, td { padding: .35rem .8rem; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
th { font-weight: 600; color: var(--soft); }
details { margin: .55rem 0; border: 1px solid var(--line); border-radius: .5rem; font-size: .92rem; }
summary { cursor: pointer; padding: .4rem .8rem; color: var(--soft); overflow-wrap: anywhere;
  border-radius: .5rem; }
summary:hover { color: var(--ink); background: var(--card); }
summary:focus-visible, a:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
details[open] > summary { border-bottom: 1px solid var(--line); border-radius: .5rem .5rem 0 0; }
.inside { padding: .1rem .9rem .3rem; } .inside > pre { margin: .6rem 0; }
.call > summary { font-family: var(--mono); font-size: .82rem; }
.mark { display: inline-block; width: 1.3em; font-weight: 700; }
.good .mark { color: var(--good); } .bad .mark, .bad > summary { color: var(--bad); }
.thought { border-style: dashed; } .thought .inside { color: var(--soft); }
.cut { color: var(--soft); font-size: .85rem; font-style: italic; }
.summary { border: 1px solid var(--line); border-radius: .6rem; padding: .2rem 1rem; }
.label { color: var(--faint); font-size: .8rem; margin: .4rem 0 0; }
.wrong { margin: .8rem 0; padding: .55rem .8rem; border-left: 3px solid var(--bad);
  background: var(--bad-paper); border-radius: 0 .5rem .5rem 0; font-size: .84rem; line-height: 1.5; }
.wrong p { margin: .25rem 0; } .wrong .when { color: var(--bad); font-size: .76rem; }
.wrong pre { white-space: pre-wrap; overflow-wrap: anywhere; font-size: .75rem; }
.ins { color: var(--add-ink); background: var(--add); }
.del { color: var(--cut-ink); background: var(--cut); }
.at { color: var(--faint); } .ins, .del, .at { display: block; }
.k { color: var(--word); } .s { color: var(--text); } .n { color: var(--number); }
.c { color: var(--note); font-style: italic; }
.unseen { border: 1px solid var(--bad); border-radius: .2em; color: var(--bad); font-size: .7em;
  padding: 0 .2em; }
footer { padding: 1.2rem 1.1rem 3rem; color: var(--faint); font-size: .78rem; }
footer p { border-top: 1px solid var(--line); padding-top: 1rem; margin: 0; }
@media (min-width: 68rem) {
  main, header, footer { grid-template-columns: 4rem minmax(0, 46rem) 15rem; column-gap: 1.6rem; }
  header > *, footer > * { grid-column: 2; }
  .turn { display: grid; grid-column: 1 / -1; grid-template-columns: subgrid; align-items: start; }
  .turn > * { grid-column: 2; min-width: 0; }
  .turn > .number { grid-column: 1; text-align: right; padding-top: 1rem; position: sticky; top: 0; }
  .turn > .errors { grid-column: 3; grid-row: 1 / span 2; }
  .errors .wrong { margin-top: .3rem; } }
@media (max-width: 30rem) { h1 { font-size: 1.4rem; } pre { padding: .6rem .7rem; font-size: .76rem; }
  .turn { padding-top: 1.1rem; } header { padding-top: 1.3rem; } }
@media print { :root { --paper: #fff; } body { font-size: 10pt; }
  pre { max-height: none; white-space: pre-wrap; overflow-wrap: anywhere; }
  .ask, .wrong, summary { break-inside: avoid; }
  details::details-content { content-visibility: visible; display: block; block-size: auto; }
  a { color: inherit; } h1, h3, h4, summary { break-after: avoid; } }
@media (prefers-reduced-motion: reduce) { html { scroll-behavior: auto; } }
"""
