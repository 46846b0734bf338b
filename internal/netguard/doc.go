// Package netguard reaches hosts on the public internet and nothing else: an
// address that a stranger or a model names must not lead to the user's own
// machine or network. It fetches; what is done with the answer, and whether
// there is a need to ask first, is for whoever calls.
//
// # Vocabulary
//
//   - Public: an address that is global and unicast and in none of the blocks
//     that IANA keeps for special purposes, or that lead to another address
//     inside them (IPv4 in IPv6, NAT64, 6to4, Teredo).
//   - Reading: what can be told of a host from its name alone. A name is also
//     checked when it is dialled: each address that a lookup gave, at the
//     moment of connecting, so that an answer can't change in between.
//
// # What is promised
//
//   - [Client] connects to public addresses only, on the ports 80 and 443. A
//     name of which one answer is not public is not dialled at all.
//   - Each redirect passes the same gate; five are followed, none from https
//     to http. No proxy of the environment is used, no cookie or referrer is
//     sent, and headers of the first request stay with its host.
//   - [Dial] connects to public addresses only, on any port.
//   - Headers are bounded; the body is for the caller to bound.
//
// Functions and clients are safe for concurrent use.
package netguard
