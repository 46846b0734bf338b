package budget

// Batches splits messages that a summary has to stand for into runs that one
// request each can hold: at most limit tokens, and never a call without its
// results. The second run is summed up with the summary of the first, and so
// on. A run that is too large by itself stands alone; its results are to be
// shortened.
func Batches(messages []Size, r Range, limit int) []Range {
	var out []Range
	from, size := r.From, 0
	for i := r.From; i < r.To; {
		end, unit := i+1, max(messages[i].Tokens, 0)
		for end < r.To && messages[end].Role == Tool {
			unit += max(messages[end].Tokens, 0)
			end++
		}
		if i > from && size+unit > limit {
			out = append(out, Range{from, i})
			from, size = i, 0
		}
		size += unit
		i = end
	}
	if from < r.To {
		out = append(out, Range{from, r.To})
	}
	return out
}
