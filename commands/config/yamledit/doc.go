// Package yamledit changes one value in a YAML text and leaves every other
// byte as it is: comments, blank lines, order, quotes, indentation and line
// breaks. It is no YAML library: what the text means is read by
// go.yaml.in/yaml/v4, and what a setting may be is its caller's business.
//
// # How
//
// The parser's nodes tell where a key or a value begins; where it ends is found
// in the text, by the style it is written in. The change is then one or two
// splices of the text. A new key goes behind the last one of its mapping, in
// that mapping's own style, and new sections are indented by two. Encoding the
// nodes again would be simpler and is what was rejected: it loses blank lines,
// folds long texts and chooses other quotes.
//
// # Promise
//
// Every result is parsed again and compared with what was wanted. Where they
// differ, or where the place can't be changed without changing another one (an
// anchor, an alias, a name that stands twice), nothing is returned but a
// [FormError], and a person has to change the text by hand. So an edit is right
// or refused.
//
// # Vocabulary
//
//   - Path: the names from the top mapping down to an entry, each as it is
//     written: dots and colons mean nothing here.
//   - Block, flow: YAML's two ways to write collections, by indentation and by
//     brackets.
//
// Nothing here holds state; all functions may be used by several goroutines.
package yamledit
