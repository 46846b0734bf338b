package clientconfig

import "bytes"

// withoutComments removes comments, and commas ahead of a closing bracket, from
// JSON, as editors allow them. Strings stay as they are.
func withoutComments(in []byte) []byte {
	out := make([]byte, 0, len(in))
	for i := 0; i < len(in); {
		switch c := in[i]; {
		case c == '"':
			end := textEnd(in, i)
			out = append(out, in[i:end]...)
			i = end
		case c == '/' && i+1 < len(in) && in[i+1] == '/':
			for i < len(in) && in[i] != '\n' {
				i++
			}
		case c == '/' && i+1 < len(in) && in[i+1] == '*':
			end := bytes.Index(in[i+2:], []byte("*/"))
			if end < 0 {
				return out
			}
			i += end + 4
		case c == '}' || c == ']':
			if kept := bytes.TrimRight(out, " \t\r\n"); len(kept) > 0 && kept[len(kept)-1] == ',' {
				out = kept[:len(kept)-1]
			}
			out = append(out, c)
			i++
		default:
			out = append(out, c)
			i++
		}
	}
	return out
}

// textEnd returns the index after the string that begins at i.
func textEnd(in []byte, i int) int {
	for i++; i < len(in); i++ {
		switch in[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(in)
}
