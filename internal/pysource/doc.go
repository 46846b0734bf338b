// Package pysource reads what a Python module says of itself: the functions,
// classes and names that it binds, their parameters, what it imports, and which
// environment variables it names. It runs nothing and needs no Python.
//
// # Why it is here
//
// A bundle of a stranger's is judged before anything of it may run, and on
// machines without Python, so neither an import nor `python3 -m ast` will do.
// The parsers of Python that Go has are whole grammars of one version, and
// refuse what a newer Python takes. What a validator needs is much less: where
// statements begin and end, and how a `def` is written.
//
// # What it reads
//
//   - All of Python's tokens, 3.8 to 3.14: strings of every kind (an f-string's
//     fields may hold strings, comments and line breaks), numbers, names beyond
//     ASCII, line continuation, indentation by Python's own rules.
//   - Statements, and blocks inside them. Expressions are only passed over.
//
// # What is promised
//
//   - What Python can parse is never called broken, and gives what Python's ast
//     gives: a test holds that against the standard library.
//   - Much of what Python refuses is refused, with its place: brackets, strings
//     and indentation that don't fit, headers without a colon, parameters out of
//     order, two operands side by side. Not all of it: that no error is found
//     doesn't mean that Python finds none.
//   - Time grows with the source's length, memory with the number of its names,
//     and depth is bounded as Python's own is.
//
// # Vocabulary
//
//   - Binding: a name that the module has once it has run to its end, and what
//     gave it its last value.
//   - Conditional: inside an if, a try, a loop or their like, so that it may not
//     be there.
//
// A Module is a plain value.
package pysource
