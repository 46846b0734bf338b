package script

import "fmt"

const (
	// maxFile is the longest script in bytes: a recording of the longest
	// response that a wire reader takes, four times.
	maxFile = 64 << 20
	// maxDeltas bounds the deltas of a script, meta aside. It is the length of
	// the longest stream that fettle is measured with.
	maxDeltas = 100_000
	// maxValues bounds how many values a file has, aliases expanded: a delta
	// in a batch of its own with its wait takes eight. The worst file of so
	// many takes 300 MB while it is read.
	maxValues = 1_000_000
	// maxDepth bounds how deep values nest in what people write. In a recording
	// it is encoding/json that bounds it, at 10,000.
	maxDepth = 100
	// lineEnd is room in a file for a header and for what ends a line.
	lineEnd = 64 << 10
)

// limits are the bounds that a test wants smaller.
type limits struct{ bytes, deltas, values int }

// bounds are the limits of every script.
func bounds() limits { return limits{bytes: maxFile, deltas: maxDeltas, values: maxValues} }

// size is a number of bytes for a message.
func size(bytes int) string {
	if bytes >= 1<<20 {
		return fmt.Sprintf("%d MiB", bytes>>20)
	}
	return fmt.Sprintf("%d bytes", bytes)
}
