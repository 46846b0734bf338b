// Package keys is the command keys: it sets, lists, removes and finds the keys of
// providers. Where they are kept is package keystore's. A key is never printed, and never
// an argument.
package keys
