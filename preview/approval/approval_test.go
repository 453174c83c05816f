package approval

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/secure-systems-lab/go-securesystemslib/dsse"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

var at = time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)

// pair makes a key of each kind that is taken, in turn.
func pair(t testing.TB, kind int) (*Key, string) {
	t.Helper()
	var signer crypto.Signer
	var err error
	switch kind % 4 {
	case 0:
		signer, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	case 1:
		_, signer, err = ed25519.GenerateKey(rand.Reader)
	case 2:
		signer, err = ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	case 3:
		signer, err = ecdsa.GenerateKey(elliptic.P521(), rand.Reader)
	}
	if err != nil {
		t.Fatal(err)
	}
	key, err := ReadKey(privatePEM(t, signer), nil)
	if err != nil {
		t.Fatal(err)
	}
	return key, publicPEM(t, signer.Public())
}

func privatePEM(t testing.TB, key any) []byte {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}

func publicPEM(t testing.TB, key any) string {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
}

const planFile = "sha256:file"

func reviewed() *preview.Plan {
	return &preview.Plan{
		Release: preview.Release{Name: "shop", Namespace: "shops"}, ReadMode: preview.ReadDryRun, Ruleset: preview.Ruleset,
		Target: preview.Target{Identity: "uid"}, ContentDigest: "sha256:content", Digest: "sha256:plan",
		Findings: []preview.Finding{
			{ID: "rbac-secrets-read/x", Fingerprint: "sha256:f1", Severity: preview.Critical},
			{ID: "unknown/y", Fingerprint: "sha256:f2", Severity: preview.NotKnown},
			{ID: "service-exposed/z", Fingerprint: "sha256:f3", Severity: preview.Warning},
		},
	}
}

func statement(p *preview.Plan) Statement {
	s := NewStatement(p, planFile)
	for _, f := range NeededAcceptances(p) {
		s.Accepted = append(s.Accepted, AcceptedFinding{ID: f.ID, Fingerprint: f.Fingerprint})
	}
	return s
}

func sign(t testing.TB, s Statement, key *Key, now time.Time, lasts time.Duration) []byte {
	t.Helper()
	data, err := Sign(s, key, now, lasts)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func people(keys ...string) *Approvers {
	a := &Approvers{APIVersion: preview.APIVersion, Kind: KindApprovers}
	for i, key := range keys {
		name := string(rune('a' + i))
		a.Approvers = append(a.Approvers, Approver{Name: name, Key: key, Users: []string{name + "@example.com"}})
	}
	return a
}

func read(t testing.TB, a *Approvers) *Approvers {
	t.Helper()
	data, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	out, err := ReadApprovers(data)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestApprovalsCountByKeyAndByPerson(t *testing.T) {
	var keys []*Key
	var publics []string
	for i := range 4 {
		key, public := pair(t, i)
		keys, publics = append(keys, key), append(publics, public)
	}
	second, secondPublic := pair(t, 0)
	publics[0] += secondPublic // a has two keys
	approvers := read(t, people(publics...))
	p := reviewed()
	q := &Quorum{Need: 4, Approvers: approvers, PlanFile: planFile}
	for i, key := range append(keys, second) {
		q.Found = append(q.Found, FoundApproval{Name: fmt.Sprint(i), Data: sign(t, statement(p), key, at, time.Hour)})
	}
	got, accepted, err := q.Check(p, []string{"deployer"}, at)
	if err != nil || len(got) != 4 || got[0].Approver != "a" || got[0].KeyID != keys[0].ID || got[3].Approver != "d" {
		t.Errorf("%+v, %v", got, err)
	}
	if fmt.Sprint(accepted) != "[{rbac-secrets-read/x sha256:f1} {unknown/y sha256:f2}]" {
		t.Errorf("accepted %v", accepted)
	}
	q.Found = append(q.Found[:3:3], q.Found[4])
	_, _, err = q.Check(p, []string{"deployer"}, at)
	if err == nil || err.Error() != "3 of 4 approvals, by a, b, c; 4 does not count: it is a second approval by a, who counts once" {
		t.Errorf("got %v", err)
	}
}

func TestWhyAnApprovalDoesNotCount(t *testing.T) {
	key, public := pair(t, 0)
	stranger, _ := pair(t, 1)
	plain := func(edit func(*Statement)) func(testing.TB) []byte {
		return func(t testing.TB) []byte {
			s := statement(reviewed())
			edit(&s)
			return sign(t, s, key, at, time.Hour)
		}
	}
	envelope := func(edit func(*dsse.Envelope)) func(testing.TB) []byte {
		return func(t testing.TB) []byte {
			var e dsse.Envelope
			if err := json.Unmarshal(sign(t, statement(reviewed()), key, at, 0), &e); err != nil {
				t.Fatal(err)
			}
			edit(&e)
			data, err := json.Marshal(e)
			if err != nil {
				t.Fatal(err)
			}
			return data
		}
	}
	// payload signs what is no statement as one.
	payload := func(text string) func(testing.TB) []byte {
		return envelope(func(e *dsse.Envelope) {
			sig, err := key.sign(dsse.PAE(PayloadType, []byte(text)))
			if err != nil {
				t.Fatal(err)
			}
			e.Payload, e.Signatures[0].Sig = base64.StdEncoding.EncodeToString([]byte(text)), base64.StdEncoding.EncodeToString(sig)
		})
	}
	whole, err := encode(statement(reviewed()))
	if err != nil {
		t.Fatal(err)
	}
	content := reviewed()
	content.ReadMode = preview.ReadOffline
	tests := map[string]struct {
		data func(testing.TB) []byte
		want string
		user string
		now  time.Time
	}{
		"another plan":      {data: plain(func(s *Statement) { s.Digest = "sha256:other" }), want: "it is by a, for another plan: sha256:other, and this is sha256:plan"},
		"another cluster":   {data: plain(func(s *Statement) { s.Target = "other" }), want: "for another cluster: other, and this is uid"},
		"another file":      {data: plain(func(s *Statement) { s.PlanFile = "sha256:other" }), want: "for another plan file"},
		"another release":   {data: plain(func(s *Statement) { s.Release.Name = "x" }), want: "for another release: shops/x, and this is shops/shop"},
		"other content":     {data: plain(func(s *Statement) { s.ContentDigest = "sha256:other" }), want: "for other content"},
		"another ruleset":   {data: plain(func(s *Statement) { s.Ruleset++ }), want: "for another ruleset"},
		"no finding":        {data: plain(func(s *Statement) { s.Accepted = nil }), want: "did not accept the finding rbac-secrets-read/x=sha256:f1"},
		"another evidence":  {data: plain(func(s *Statement) { s.Accepted[1].Fingerprint = "sha256:f9" }), want: "did not accept the finding unknown/y=sha256:f2"},
		"another scope":     {data: plain(func(s *Statement) { s.Scope = "all" }), want: `it approves a "all"`},
		"another kind":      {data: plain(func(s *Statement) { s.Kind = "Plan" }), want: "is not written as an approval is"},
		"the content alone": {data: func(t testing.TB) []byte { return sign(t, statement(content), key, at, 0) }, want: "counts only with contentApprovals: true"},
		"who applies":       {data: plain(func(*Statement) {}), user: "a@example.com", want: "it is by a, who applies the plan as a@example.com"},
		"nobody applies":    {data: plain(func(*Statement) {}), user: "-", want: "the cluster does not say who applies the plan"},
		"the end":           {data: plain(func(*Statement) {}), now: at.Add(time.Hour), want: "expired at 2026-11-22T11:00:00Z; by this machine's clock it is 2026-11-22T11:00:00Z"},
		"the future":        {data: plain(func(*Statement) {}), now: at.Add(-6 * time.Minute), want: "one of the clocks is wrong"},
		"a stranger":        {data: func(t testing.TB) []byte { return sign(t, statement(reviewed()), stranger, at, 0) }, want: "signed by no key of the approvers (it says " + stranger.ID},
		"a stranger who says he is another": {
			data: func(t testing.TB) []byte {
				liar := *stranger
				liar.ID = key.ID
				return sign(t, statement(reviewed()), &liar, at, 0)
			}, want: "signed by no key of the approvers (it says " + key.ID},
		"no signature":          {data: envelope(func(e *dsse.Envelope) { e.Signatures = nil }), want: "it carries no signature"},
		"two signatures":        {data: envelope(func(e *dsse.Envelope) { e.Signatures = append(e.Signatures, e.Signatures[0]) }), want: "it carries 2 signatures"},
		"a signature of noise":  {data: envelope(func(e *dsse.Envelope) { e.Signatures[0].Sig = "%" }), want: "not base64"},
		"an empty signature":    {data: envelope(func(e *dsse.Envelope) { e.Signatures[0].Sig = "" }), want: "signed by no key"},
		"another type":          {data: envelope(func(e *dsse.Envelope) { e.PayloadType = "application/vnd.in-toto+json" }), want: "an envelope of something else"},
		"another payload":       {data: envelope(func(e *dsse.Envelope) { e.Payload = base64.StdEncoding.EncodeToString([]byte("{}")) }), want: "not written as an approval is"},
		"a payload with spaces": {data: payload(" " + string(whole)), want: "not written as an approval is"},
		"a payload in another case": {
			data: payload(strings.Replace(string(whole), `"digest"`, `"DIGEST"`, 1)), want: "not written as an approval is"},
		"a payload with a key twice": {
			data: payload(strings.Replace(string(whole), `{`, `{"kind":"Approval",`, 1)), want: "what it signs is no approval"},
		"a payload with more in it": {
			data: payload(strings.Replace(string(whole), `{`, `{"also":1,`, 1)), want: "what it signs is no approval"},
		"a payload without a time": {data: payload(string(whole)), want: "the time of its signing cannot be read"},
		"no envelope":              {data: func(testing.TB) []byte { return []byte("hello") }, want: "it is no DSSE envelope"},
		"far too much":             {data: func(testing.TB) []byte { return make([]byte, MaxBytes+1) }, want: "too large"},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			q := &Quorum{Need: 1, Approvers: read(t, people(public)), PlanFile: planFile, Found: []FoundApproval{{Name: "file", Data: c.data(t)}}}
			user, now := c.user, c.now
			switch {
			case user == "":
				user = "deployer"
			case user == "-":
				user = ""
			}
			if now.IsZero() {
				now = at
			}
			_, _, err := q.Check(reviewed(), []string{user}, now)
			if _, refused := errors.AsType[*QuorumError](err); !refused || !strings.Contains(err.Error(), "0 of 1 approvals; file does not count: ") || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestTheApproversFileMayBeLessStrict(t *testing.T) {
	key, public := pair(t, 0)
	content := reviewed()
	content.ReadMode, content.Digest, content.Target = preview.ReadOffline, "sha256:other", preview.Target{}
	a := people(public)
	a.ApproverMayApply, a.ContentApprovals = true, true
	q := &Quorum{Need: 1, Approvers: read(t, a), PlanFile: planFile, Found: []FoundApproval{{Name: "file", Data: sign(t, statement(content), key, at, 0)}}}
	got, _, err := q.Check(reviewed(), []string{"a@example.com"}, at.AddDate(1, 0, 0))
	if err != nil || len(got) != 1 || got[0].Scope != ScopeContent {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestImpersonationHidesNoApprover: who applies is who the credentials are of,
// and the user that they impersonate as well.
func TestImpersonationHidesNoApprover(t *testing.T) {
	key, public := pair(t, 0)
	p := reviewed()
	q := &Quorum{Need: 1, Approvers: read(t, people(public)), PlanFile: planFile, Found: []FoundApproval{{Name: "file", Data: sign(t, statement(p), key, at, 0)}}}
	for _, c := range []struct {
		target preview.Target
		want   string // empty where the approval counts
	}{
		{preview.Target{Authenticated: "deployer", User: "deployer"}, ""},
		{preview.Target{Authenticated: "deployer", User: "other"}, ""},
		{preview.Target{Authenticated: "a@example.com", User: "other"}, "who applies the plan as a@example.com"},
		{preview.Target{Authenticated: "deployer", User: "a@example.com"}, "who applies the plan as a@example.com"},
		{preview.Target{User: "deployer"}, "the cluster does not say who applies the plan"},
	} {
		_, _, err := q.Check(p, c.target.Users(), at)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%+v: %v, want %q", c.target, err, c.want)
		}
	}
}

func FuzzEnvelopes(f *testing.F) {
	key, public := pair(f, 0)
	approvers := read(f, people(public))
	f.Add(sign(f, statement(reviewed()), key, at, time.Hour))
	f.Add([]byte(`{"payloadType":"","payload":"","signatures":[{"sig":""}]}`))
	other := reviewed()
	other.Digest = "sha256:other"
	f.Fuzz(func(t *testing.T, data []byte) {
		q := &Quorum{Need: 1, Approvers: approvers, PlanFile: planFile, Found: []FoundApproval{{Name: "x", Data: data}}}
		if _, _, err := q.Check(other, []string{"deployer"}, at); err == nil {
			t.Error("a plan was approved that nobody approved")
		}
	})
}
