// Package web is the page of fettle serve: what a browser gets without a token. Its
// source is TypeScript in src; what is built of it (dist) is committed and is a part
// of the program, so that building fettle needs no Node. With the build tag no_web
// there is no page in it.
//
// It knows files and how they are sent, and nothing of chats: all that the page shows
// comes from the API, with a token that the page has from the address's fragment, or
// for a code in it.
// Nothing here is a secret.
//
// # Vocabulary
//
//   - Page: the files of one build, and the index among them.
//   - Index: index.html, which all addresses of the page's own give. Its nonce is
//     another one in each answer, so it is never kept.
//   - Asset: a file whose name has a sum of its content, so that it may be kept for
//     ever. Other files are asked for again, by their ETag.
//   - Form: a file as it is, or compressed. What gets smaller is in the build by Brotli
//     alone (x.js.br), and is sent so; for a client that doesn't take that it is
//     unpacked, and packed by gzip where it takes that, once each.
//
// # Concurrency
//
// A Page is safe for concurrent use, and starts nothing.
package web
