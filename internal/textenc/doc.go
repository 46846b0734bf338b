// Package textenc finds out which Unicode encoding a text has, and converts it to UTF-8.
//
// UTF-8 and UTF-16 are recognized by their byte order mark. UTF-16 without a mark is
// recognized by its zero bytes: text that has Latin letters, digits, blanks or line ends has
// one in each of these characters, always in the same half. What is recognized so must decode
// to text without control characters, so that binary data is not taken for text.
//
// All functions are pure and safe for concurrent use. Other encodings are left to the caller.
package textenc
