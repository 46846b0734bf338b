package server_test

import (
	"testing"
)

// However many follow a turn, before it asks or later, all see the same approval.
func TestAnApprovalIsMadeOnce(t *testing.T) {
	t.Parallel()
	h := open(t, plan{
		script: "responses:\n  - {when: twice, step: 0, calls: [{name: page, args: {}}]}\n  - {when: \"\", text: Done.}\n",
	})
	text, zipped := bundleOf(t, "1.0.0", "    requires_confirmation: true\n"), []string{"Content-Type", "application/zip"}
	var looked struct{ Approve string }
	h.call("POST", "/api/toolsets", text, zipped...).is(200, &looked)
	h.call("POST", "/api/toolsets?approve="+looked.Approve, text, zipped...).is(201, nil)
	turn, _ := h.start(doc{"message": "twice", "confirm": true})
	nonces := map[any]int{}
	for range 10 {
		s := h.follow("GET", "/api/turns/"+turn+"/events", nil)
		approval := s.until("approval")
		nonces[approval["nonce"]]++
		if got := approval["reach"]; got != "read and write the chat's workspace only" {
			t.Errorf("the approval says that the call may %v", got)
		}
	}
	if len(nonces) != 1 {
		t.Errorf("nonces %v", nonces)
	}
	h.call("POST", "/api/turns/"+turn+"/cancel", nil).is(204, nil)
}
