package acp

// SetPage makes lists of sessions short.
func (o *Options) SetPage(n int) { o.page = n }
