// Package pystdlib knows the names of Python's own modules. It is a leaf, and
// pure: it asks no interpreter, since a bundle is judged before one is found.
package pystdlib
