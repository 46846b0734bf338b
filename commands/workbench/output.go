package workbench

import "encoding/json"

// OrEmpty gives a list that is [] in JSON where there is nothing.
func OrEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// PrintJSON prints a result as --output json wants it.
func PrintJSON(rt *Runtime, v any) error {
	enc := json.NewEncoder(rt.Streams.Out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// OutputVersion is the version of the JSON that commands print; it rises when
// a field changes its meaning or goes.
const OutputVersion = 1
