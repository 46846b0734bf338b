//go:build !unix

package prompts

// nonblock is for systems where a file can hold an open up.
const nonblock = 0
