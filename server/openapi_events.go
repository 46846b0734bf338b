package server

import (
	"reflect"
	"slices"

	"github.com/fettle-cli/fettle/engine/event"
)

// turnEvents describes the events of a turn as the engine has them, which is what
// a stream has with form=events: one schema for each type, and TurnEvent, which
// is any of them. Without it an approval stands in the place of a confirm_request: it
// has no number, since it is made for who looks. Clients ignore types and fields that
// they don't know.
func (d *describer) turnEvents() {
	var union []object
	types := object{}
	for _, b := range event.Bodies() {
		name := "event_" + string(b.Type())
		schema := d.fields(reflect.TypeOf(b))
		props := schema["properties"].(object)
		props["type"] = object{"type": "string", "const": string(b.Type())}
		props["turn_id"] = object{"type": "string"}
		props["seq"] = object{"type": "integer"}
		props["time"] = object{"type": "string", "format": "date-time"}
		required, _ := schema["required"].([]string)
		required = append(required, "seq", "time", "turn_id", "type")
		slices.Sort(required)
		schema["required"] = required
		d.schemas[name] = schema
		union = append(union, object{"$ref": "#/components/schemas/" + name})
		types[string(b.Type())] = "#/components/schemas/" + name
	}
	either := []object{{"$ref": "#/components/schemas/TurnEvent"}, d.of(reflect.TypeFor[approvalJSON]())}
	d.schemas[d.names[reflect.TypeFor[eventJSON]()]] = object{"anyOf": either}
	d.schemas["TurnEvent"] = object{"oneOf": union, "discriminator": object{"propertyName": "type", "mapping": types}}
}
