package python

import (
	"net"
	"sync"
)

// serviceConn is a connection to a service, which counts as a use of it.
type serviceConn struct {
	net.Conn
	s    *service
	once sync.Once
}

// Close closes the connection.
func (c *serviceConn) Close() error {
	c.once.Do(c.s.closed)
	return c.Conn.Close()
}

// CloseWrite passes on the end of one direction.
func (c *serviceConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return c.Close()
}
