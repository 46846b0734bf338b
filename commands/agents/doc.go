// Package agents has the command agents: which agents there are, what one of them is given,
// and changes of those that the user made. The agents of toolsets and of the configuration
// are listed and not changed here.
package agents
