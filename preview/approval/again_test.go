package approval

import (
	"strings"
	"testing"
	"time"
)

// An approval on record is verified like a fresh one, against the applied plan; the
// result names an invalid one.
func TestAnApprovalOnRecordIsVerifiedAgain(t *testing.T) {
	key, public := pair(t, 0)
	_, strange := pair(t, 1)
	approvers := read(t, people(public))
	p := reviewed()
	signed := func() Signature {
		q := &Quorum{Need: 1, Approvers: approvers, PlanFile: planFile, Found: []FoundApproval{{Name: "1", Data: sign(t, statement(p), key, at, time.Hour)}}}
		got, _, err := q.Check(p, []string{"deployer"}, at)
		if err != nil {
			t.Fatal(err)
		}
		return got[0]
	}
	applied := func() Applied {
		return Applied{Release: p.Release, Digest: p.Digest, ContentDigest: p.ContentDigest, Target: p.Target.Identity, By: "deployer", Began: at.Add(time.Minute)}
	}
	for _, tt := range []struct {
		name string
		edit func(s *Signature, a *Applied)
		by   *Approvers // nil for none
		want string
	}{
		{"as it was", func(*Signature, *Applied) {}, approvers, ""},
		{"as it was, where no approvers are named", func(*Signature, *Applied) {}, nil, ""},
		{"by one who may not approve any more", func(*Signature, *Applied) {}, read(t, people(strange)), "signed by no key of the approvers"},
		{"under another name", func(s *Signature, _ *Applied) { s.Approver = "b" }, approvers, "it is signed by a with key " + key.ID},
		{"with another key", func(s *Signature, _ *Applied) { s.KeyID = "sha256:other" }, approvers, "it is signed by a with key"},
		{"of another plan", func(_ *Signature, a *Applied) { a.Digest = "sha256:other" }, nil, "it approves another plan, sha256:plan"},
		{"of other content", func(_ *Signature, a *Applied) { a.ContentDigest = "sha256:other" }, nil, "it approves other content, sha256:content"},
		{"of another cluster", func(_ *Signature, a *Applied) { a.Target = "other" }, nil, "for another cluster, uid"},
		{"of another release", func(_ *Signature, a *Applied) { a.Release.Name = "web" }, nil, "it approves the release shops/shop"},
		{"given by who applied", func(_ *Signature, a *Applied) { a.By = "a@example.com" }, approvers, "a applied the plan as a@example.com"},
		{"given after the apply", func(_ *Signature, a *Applied) { a.Began = at.Add(-time.Hour) }, nil, "after the apply began"},
		{"ended before the apply", func(_ *Signature, a *Applied) { a.Began = at.Add(2 * time.Hour) }, nil, "before the apply began"},
		{"with another end", func(s *Signature, _ *Applied) { s.Expires = "" }, nil, "another scope, time or expiry"},
		{"changed", func(s *Signature, _ *Applied) { s.Envelope[len(s.Envelope)/2] ^= 1 }, approvers, "i"},
		{"taken out", func(s *Signature, _ *Applied) { s.Envelope = nil }, approvers, "the envelope is not on record"},
		{"of an older version, where no approvers are named", func(s *Signature, _ *Applied) { s.Envelope = nil }, nil, ""},
	} {
		s, a := signed(), applied()
		tt.edit(&s, &a)
		if got := s.Verify(tt.by, a); (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
			t.Errorf("an approval %s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// Envelopes are kept as long as a record has room for them, and the approvals count
// without.
func TestEnvelopesThatDoNotFitAreLeftOut(t *testing.T) {
	large := []byte(`{"payload":"` + strings.Repeat("a", maxKept-20) + `"}`)
	counted := []Signature{{Approver: "a"}, {Approver: "b"}}
	keep(counted, [][]byte{large, []byte(`{ "payload": "b" }`)})
	if len(counted[0].Envelope) != len(large) || counted[1].Envelope != nil {
		t.Errorf("%d and %d bytes are kept", len(counted[0].Envelope), len(counted[1].Envelope))
	}
	counted = []Signature{{Approver: "b"}}
	if keep(counted, [][]byte{[]byte("{ \"payload\": \"b\" }\n")}); string(counted[0].Envelope) != `{"payload":"b"}` {
		t.Errorf("kept is %s", counted[0].Envelope)
	}
}
