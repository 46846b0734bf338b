package question

import (
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/engine/provider"
)

// ParamFlags are the flags of the model's parameters.
func ParamFlags(category string) []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: ParamFlag(provider.EffortParam), Category: category, Usage: "reason as much as `LEVEL`: none, minimal, low, medium, high, xhigh or max"},
		&cli.StringFlag{Name: ParamFlag(provider.TemperatureParam), Category: category, Usage: "use the temperature `T`, from 0 to 2"},
		&cli.StringFlag{Name: ParamFlag(provider.MaxTokensParam), Category: category, Usage: "limit a response to `N` tokens, reasoning included"},
	}
}

// ParamFlag is the flag of a parameter, without its dashes.
func ParamFlag(param string) string { return strings.ReplaceAll(param, "_", "-") }

// ParamFlagNames are the flags of all parameters, without dashes.
func ParamFlagNames() []string {
	names := provider.ParamNames()
	for i, name := range names {
		names[i] = ParamFlag(name)
	}
	return names
}

// ParamExample is a value that a parameter can have.
func ParamExample(param string) string {
	switch param {
	case provider.EffortParam:
		return "high"
	case provider.TemperatureParam:
		return "0.2"
	}
	return "4000"
}

// readParams reads the flags of [ParamFlags].
func readParams(c *cli.Context, command string) (p provider.Params, err error) {
	for _, name := range provider.ParamNames() {
		flag := ParamFlag(name)
		if !c.IsSet(flag) {
			continue
		}
		if err := p.Set(name, c.String(flag)); err != nil {
			return p, cmdline.Usagef(command+" --"+flag+" "+ParamExample(name), "--%s: %s", flag, err)
		}
	}
	return p, nil
}

// ParamsText writes the parameters that are set, for reading.
func ParamsText(p provider.Params) string {
	var out []string
	for _, name := range provider.ParamNames() {
		if text := p.Text(name); text != "" {
			out = append(out, ParamFlag(name)+" "+text)
		}
	}
	if len(out) == 0 {
		return "no parameters are set: the configuration and the model decide"
	}
	return strings.Join(out, ", ")
}
