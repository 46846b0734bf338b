package engine

// Live tells whether a turn runs in this process now.
func (e *Engine) Live(id TurnID) bool {
	t := e.turn(id)
	if t == nil {
		return false
	}
	_, _, done, _ := t.feed.after(0)
	return !done
}
