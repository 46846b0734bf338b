//go:build !unix

package bundle

// openNoWait has no meaning here.
const openNoWait = 0
