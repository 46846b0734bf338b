// Package weborigin reads the origins of browsers: scheme, host and port of an http
// address, as a page is named to CORS, to policies of frames and to the gate. It decides
// nothing about who is let in.
package weborigin
