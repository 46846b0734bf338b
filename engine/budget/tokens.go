package budget

import "unicode/utf8"

// What Tokens counts with. Four bytes a token holds for English and code; what
// isn't ASCII takes about a token for three bytes in the vocabularies of today.
// The rest of the difference is calibrated a model at a time.
const (
	asciiPerToken = 4
	otherPerToken = 3
)

// Tokens estimates what a text takes.
func Tokens(s string) int {
	ascii := 0
	for i := range len(s) {
		if s[i] < utf8.RuneSelf {
			ascii++
		}
	}
	return (ascii+asciiPerToken-1)/asciiPerToken + (len(s)-ascii+otherPerToken-1)/otherPerToken
}
