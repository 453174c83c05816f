package install_test

import (
	"bytes"
	"compress/gzip"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/approval"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
)

// tampering changes the records of one release, whose revisions 1 to 5 were applied with
// a key, as a user with kubectl can.
type tampering struct {
	*world
	t    *testing.T
	keys record.Keys
	kept map[string]map[string]any // the data of each Secret as this program wrote it
}

// newRecordKeys returns a key that records are signed with, and trusted.
func newRecordKeys(t *testing.T) record.Keys {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	key, err := approval.ReadKey(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), nil)
	if err != nil {
		t.Fatal(err)
	}
	return record.Keys{Signer: key, Trusted: []approval.PublicKey{key.Verifier()}}
}

func newTampering(t *testing.T, name string) *tampering {
	m := &tampering{world: newWorldIn(t, sandboxtest.Start(t), name), t: t, kept: map[string]map[string]any{}}
	m.keys = newRecordKeys(t)
	for i := 1; i <= 5; i++ {
		stored := m.newest()
		if stored != nil {
			m.laterThan(stored.Written)
		}
		plan := m.planWith(t, func(o *engine.Options) {
			if stored != nil {
				o.Installed.Base.Signature = stored.Signature
			}
		}, m.content(t, fmt.Sprintf("%d.0.0", i), configMap("settings", fmt.Sprint(i))))
		o := m.options(t)
		o.RecordKeys = m.keys
		if _, err := install.Apply(t.Context(), plan, byDigest(plan), m, o); err != nil {
			t.Fatal(err)
		}
	}
	for i := 1; i <= 5; i++ {
		m.kept[m.secret(i)] = preview.Map(m.read(t, "v1", "Secret", m.release.Namespace, m.secret(i)), "data")
	}
	return m
}

// laterThan returns when a write would be noted with a later time than the given one.
func (m *tampering) laterThan(written string) {
	m.t.Helper()
	if written == "" {
		m.t.Fatal("the record does not say when its objects were written")
	}
	for n := 0; ; n++ {
		m.makes(m.t, fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"clock","namespace":%q},"data":{"n":"%d"}}`, m.release.Namespace, n))
		for _, owner := range preview.FieldOwners(m.read(m.t, "v1", "ConfigMap", m.release.Namespace, "clock")) {
			if owner.Time > written {
				return
			}
		}
	}
}

// secret is the Secret with the record of a revision; the newest is 5.
func (m *tampering) secret(revision int) string {
	if revision == 5 {
		return preview.RecordName(m.release.Name)
	}
	return fmt.Sprintf("%s.v%d.0", preview.RecordName(m.release.Name), revision)
}

func (m *tampering) newest() *record.Record {
	stored, err := record.Load(m.t.Context(), m, m.release)
	if err != nil {
		m.t.Fatal(err)
	}
	if stored != nil {
		target, err := m.Target(m.t.Context())
		if err != nil {
			m.t.Fatal(err)
		}
		stored.Verify(m.keys, target.Identity)
	}
	return stored
}

// put stores data as the record of a revision; nil removes it.
func (m *tampering) put(revision int, data map[string]any) {
	m.t.Helper()
	name := m.secret(revision)
	m.edit(m.t, "delete", "secret", name, "-n", m.release.Namespace, "--ignore-not-found")
	if data == nil {
		return
	}
	labels := map[string]any{preview.LabelRelease: m.release.Name}
	meta := map[string]any{"name": name, "namespace": m.release.Namespace, "labels": labels}
	if name == preview.RecordName(m.release.Name) {
		labels[preview.LabelSetID] = preview.SetID(m.release)
		meta["annotations"] = map[string]any{preview.AnnotationTool: "kubectl-operator/v0.0.1"}
	}
	body, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "Secret", "type": preview.TypeRecord, "metadata": meta, "data": data})
	if err != nil {
		m.t.Fatal(err)
	}
	m.makes(m.t, string(body))
}

// data returns the data of a revision's record as this program wrote it.
func (m *tampering) data(revision int) map[string]any { return m.kept[m.secret(revision)] }

// rewritten returns the data of a revision's record with its JSON changed.
func (m *tampering) rewritten(revision int, change func(map[string]any)) map[string]any {
	m.t.Helper()
	packed, err := base64.StdEncoding.DecodeString(preview.String(m.data(revision), "record"))
	if err != nil {
		m.t.Fatal(err)
	}
	zip, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		m.t.Fatal(err)
	}
	text, err := io.ReadAll(zip)
	if err != nil {
		m.t.Fatal(err)
	}
	var r map[string]any
	if err := json.Unmarshal(text, &r); err != nil {
		m.t.Fatal(err)
	}
	change(r)
	if text, err = json.Marshal(r); err != nil {
		m.t.Fatal(err)
	}
	var out bytes.Buffer
	again := gzip.NewWriter(&out)
	_, _ = again.Write(text)
	_ = again.Close()
	data := map[string]any{}
	for key, value := range m.data(revision) {
		data[key] = value
	}
	data["record"] = base64.StdEncoding.EncodeToString(out.Bytes())
	return data
}

func forgedApprover(r map[string]any) { preview.Map(r, "approval")["by"] = "mallory" }

// older changes the entries of the list of older revisions.
func older(change func(revision float64, entry map[string]any) (keep bool)) func(map[string]any) {
	return func(r map[string]any) {
		var kept []any
		list, _ := r["older"].([]any)
		for _, v := range list {
			entry, _ := v.(map[string]any)
			if n, _ := entry["revision"].(float64); change(n, entry) {
				kept = append(kept, entry)
			}
		}
		r["older"] = kept
	}
}

// TestClusterHistoryShowsTampering: changes to a release's records by users who may write
// Secrets are seen, with the first such revision, or are only seen by signatures, as the
// documentation of package install has it.
func TestClusterHistoryShowsTampering(t *testing.T) {
	t.Parallel()
	m := newTampering(t, "tampered")
	for _, tt := range []struct {
		name    string
		tamper  func()
		since   int    // 0 where the chain holds
		says    string // why
		signed  bool   // whether the newest record still verifies
		stopped int
		plain   int // the newest revision that is not chained
		refused int // the revision that cannot be gone back to
	}{
		{name: "nothing is changed", tamper: func() {}, signed: true},
		{
			name: "one older record is changed", since: 2, says: "is not the one that the record of revision 5 names", signed: true, refused: 2,
			tamper: func() { m.put(2, m.rewritten(2, forgedApprover)) },
		},
		{
			name: "a record is put in the place of another", since: 3, says: "the record of revision 2 instead", signed: true, refused: 3,
			tamper: func() { m.put(3, m.data(2)) },
		},
		{
			name: "a record in the middle is removed", since: 3, says: "is gone", signed: true,
			tamper: func() { m.put(3, nil) },
		},
		{
			name: "and the newest lists it no more", since: 3, says: "leaves it out",
			tamper: func() {
				m.put(3, nil)
				m.put(5, m.rewritten(5, older(func(n float64, _ map[string]any) bool { return n != 3 })))
			},
		},
		{
			name: "an older one is put back as the newest", since: 4, says: "an old one was put back", signed: true,
			tamper: func() { m.put(5, m.data(3)) },
		},
		{
			name: "the newest is exchanged for the one before it", since: 5, says: "the objects of the release were applied again at", signed: true, stopped: 5,
			tamper: func() { m.put(5, m.data(4)) },
		},
		{
			name: "and its copy is removed too", since: 5, says: "and revision 4, the newest on record, wrote to them last at", signed: true,
			tamper: func() { m.put(5, m.data(4)); m.put(4, nil) },
		},
		{
			name: "all that is newer is removed without a trace", since: 3, says: "its record is gone: the objects of the release were applied again", signed: true,
			tamper: func() { m.put(5, m.data(2)); m.put(4, nil); m.put(3, nil); m.put(2, nil) },
		},
		{name: "the newest is changed", tamper: func() { m.put(5, m.rewritten(5, forgedApprover)) }},
		{
			name: "one record and all later ones are written anew",
			tamper: func() {
				sums := map[float64]string{}
				for i := 2; i <= 5; i++ {
					data := m.rewritten(i, func(r map[string]any) {
						if i == 2 {
							forgedApprover(r)
						}
						older(func(n float64, entry map[string]any) bool {
							if sums[n] != "" {
								entry["sha256"] = sums[n]
							}
							return true
						})(r)
					})
					packed, _ := base64.StdEncoding.DecodeString(preview.String(data, "record"))
					sum := sha256.Sum256(packed)
					sums[float64(i)] = "sha256:" + hex.EncodeToString(sum[:])
					m.put(i, data)
				}
			},
		},
		{
			name: "records of an older version of the program name none", plain: 4,
			tamper: func() {
				for i := 2; i <= 5; i++ {
					m.put(i, m.rewritten(i, older(func(_ float64, entry map[string]any) bool { delete(entry, "sha256"); return true })))
				}
			},
		},
	} {
		tt.tamper()
		stored := m.newest()
		chain, err := record.ReadChain(t.Context(), m, stored)
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		if chain.Since != tt.since || !strings.Contains(chain.Why, tt.says) || chain.Stopped != tt.stopped || chain.Unchained != tt.plain {
			t.Errorf("%s: since %d %q, stopped %d, not chained %d; want %d %q, %d, %d", tt.name, chain.Since, chain.Why, chain.Stopped, chain.Unchained, tt.since, tt.says, tt.stopped, tt.plain)
		}
		if verified := stored.Signature != nil && stored.Signature.Problem == ""; verified != tt.signed {
			t.Errorf("%s: the newest record is %s", tt.name, stored.Signature)
		}
		for revision := 1; revision < stored.Revision; revision++ {
			_, err := record.LoadRevision(t.Context(), m, m.release, revision)
			if (err != nil) != (revision == tt.refused) {
				t.Errorf("%s: revision %d: %v", tt.name, revision, err)
			}
		}
		for revision := 1; revision <= 5; revision++ {
			m.put(revision, m.data(revision))
		}
	}
}

// TestClusterNoRunOnAHistoryThatBroke: a plan approved before a record was removed is
// refused by every action, also to resume it, and nothing is written.
func TestClusterNoRunOnAHistoryThatBroke(t *testing.T) {
	t.Parallel()
	m := newTampering(t, "broken")
	signed := func(o *engine.Options) { o.Installed.Base.Signature = m.newest().Signature }
	plans := map[string]*preview.Plan{
		"upgrade": m.planWith(t, signed, m.content(t, "6.0.0", configMap("settings", "6"))),
		"uninstall": m.planWith(t, func(o *engine.Options) {
			signed(o)
			o.Request.Action = preview.RequestUninstall
		}),
	}
	stopped := m.rewritten(5, func(r map[string]any) { r["state"] = "applying" })
	resumed, err := record.LoadPlan(t.Context(), m, m.newest(), nil)
	if err != nil {
		t.Fatal(err)
	}
	plans["resume"] = resumed
	m.put(3, nil)
	for name, plan := range plans {
		if name == "resume" {
			m.put(5, stopped)
		}
		before := len(m.writes(t))
		o := m.options(t)
		o.RecordKeys = m.keys
		_, err := install.Apply(t.Context(), plan, byDigest(plan), m, o)
		if install.KindOf(err) != install.Refused || !strings.Contains(err.Error(), "the history does not hold since revision 3") {
			t.Errorf("%s: %v", name, err)
		}
		if after := m.writes(t); len(after) != before {
			t.Errorf("%s wrote %v", name, after[before:])
		}
		m.put(5, m.data(5))
	}
}
