package record

import (
	"bufio"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

var testRelease = preview.Release{Name: "demo", Namespace: "ns"}

// archivePlan is a sealed plan of n ConfigMaps with incompressible values, and
// one Secret.
func archivePlan(t testing.TB, n int) *preview.Plan {
	t.Helper()
	p := &preview.Plan{Release: testRelease, ReadMode: preview.ReadDryRun, Packages: []preview.Package{{Name: "demo"}}}
	add := func(body map[string]any) {
		digest, err := preview.HashObject(body, "")
		if err != nil {
			t.Fatal(err)
		}
		ref := preview.RefOf(body)
		p.Objects = append(p.Objects, preview.Object{
			ID: ref.ID(), Package: "demo", APIVersion: ref.APIVersion, Kind: ref.Kind, Namespace: ref.Namespace, Name: ref.Name,
			Action: preview.ActionCreate, Digest: digest, Planned: body, ResultBody: body,
		})
	}
	for i := range n {
		noise := make([]byte, 0, 256<<10)
		for j := 0; len(noise) < 256<<10; j++ {
			sum := sha256.Sum256(fmt.Appendf(nil, "%d/%d", i, j))
			noise = append(noise, sum[:]...)
		}
		add(map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap",
			"metadata": map[string]any{"name": fmt.Sprint("c", i), "namespace": "ns"},
			"data":     map[string]any{"v": base64.StdEncoding.EncodeToString(noise), "exact": int64(9007199254740993)},
		})
	}
	add(map[string]any{
		"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "s", "namespace": "ns"},
		"data": map[string]any{"password": "aHVudGVyMg=="},
	})
	pkg := &p.Packages[0]
	var err error
	if pkg.ContentDigest, err = preview.ContentDigest(testRelease, *pkg, p.Objects, nil); err != nil {
		t.Fatal(err)
	}
	if err := p.Seal(); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestArchiveSurvivesSplitting(t *testing.T) {
	plan := archivePlan(t, 8)
	parts, archive, err := encodeArchive(plan)
	if err != nil {
		t.Fatal(err)
	}
	if len(parts) < 2 {
		t.Fatalf("%d parts, want several: the test must split", len(parts))
	}
	for i, part := range parts {
		if len(part) > maxPartBytes {
			t.Errorf("part %d has %d bytes, more than a Secret takes", i, len(part))
		}
	}
	got, err := decodeArchive(parts, archive, plan.Digest)
	if err != nil {
		t.Fatal(err)
	}
	for i := range plan.Objects {
		want, have := plan.Objects[i], got.Objects[i]
		if want.Kind == "Secret" {
			if have.Planned != nil || have.ResultBody != nil {
				t.Error("the body of a Secret is in the archive")
			}
			if data := preview.Map(got.Shapes[want.ID], "data"); len(data) != 1 || data["password"] != "" {
				t.Errorf("the shape of the Secret has the data %v, want its key with nothing behind it", data)
			}
			continue
		}
		if !reflect.DeepEqual(want.Planned, have.Planned) || !reflect.DeepEqual(want.ResultBody, have.ResultBody) {
			t.Errorf("%s came back changed", want.ID)
		}
	}
}

// A plan that has 60 MB without the bodies of its objects, as one of as many objects as a
// package may have, is read again from its record.
func TestSlowLargestArchiveRoundTrips(t *testing.T) {
	slowtest.Skip(t, "a plan of 60 MB")
	const objects, evidence = 500, 120 << 10
	p := &preview.Plan{Release: testRelease, ReadMode: preview.ReadDryRun, Packages: []preview.Package{{Name: "demo"}}}
	for i := range objects {
		body := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": fmt.Sprint("a", i), "namespace": "ns"}}
		ref := preview.RefOf(body)
		p.Objects = append(p.Objects, preview.Object{ID: ref.ID(), Package: "demo", APIVersion: "v1", Kind: "ConfigMap", Namespace: "ns", Name: ref.Name, Action: preview.ActionCreate, Planned: body})
		p.Findings = append(p.Findings, preview.Finding{ID: "rule/" + ref.ID(), Rule: "rule", Object: ref.ID(), Evidence: strings.Repeat("x", evidence)})
	}
	if err := p.Seal(); err != nil {
		t.Fatal(err)
	}
	parts, archive, err := encodeArchive(p)
	if err != nil {
		t.Fatal(err)
	}
	got, err := decodeArchive(parts, archive, p.Digest)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Objects) != objects || got.Objects[objects-1].Planned == nil {
		t.Errorf("%d objects", len(got.Objects))
	}
}

// A plan that could not be read again is refused when it is recorded, which is before
// anything is applied.
func TestAnArchiveThatCannotBeReadIsNotWritten(t *testing.T) {
	plan := archivePlan(t, 1)
	plan.Packages[0].RelatedImages = make([]string, archiveBounds().items+1)
	if _, _, err := encodeArchive(plan); err == nil || !strings.Contains(err.Error(), "elements are more than") {
		t.Errorf("got %v", err)
	}
}

func TestArchiveRefusesWhatWasNotWritten(t *testing.T) {
	plan := archivePlan(t, 8)
	parts, archive, err := encodeArchive(plan)
	if err != nil {
		t.Fatal(err)
	}
	flipped := append([]byte(nil), parts[0]...)
	flipped[len(flipped)/2] ^= 1
	tests := []struct {
		name   string
		parts  [][]byte
		digest string
	}{
		{"a changed byte", append([][]byte{flipped}, parts[1:]...), plan.Digest},
		{"a missing part", parts[1:], plan.Digest},
		{"parts in another order", append([][]byte{parts[len(parts)-1]}, parts[:len(parts)-1]...), plan.Digest},
		{"the plan of another digest", parts, preview.HashBytes(nil)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := decodeArchive(tt.parts, archive, tt.digest); err == nil {
				t.Error("was read as a plan")
			}
		})
	}
}

func testRecord(t testing.TB) *Record {
	t.Helper()
	record := New(archivePlan(t, 1), Approval{How: ApprovedByDigest}, nil, "1.0.0", time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC))
	record.Archive = Archive{Parts: 1}
	return record
}

// secretOf is the Secret of a record as the API would show it.
func secretOf(t testing.TB, record any) map[string]any {
	t.Helper()
	data, err := json.Marshal(record)
	if err != nil {
		t.Fatal(err)
	}
	packed, err := compress(data)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]any{
		"apiVersion": "v1", "kind": "Secret", "type": secretType,
		"metadata": map[string]any{
			"name": "kubectl-operator.demo", "namespace": "ns",
			"labels":      map[string]any{preview.LabelSetID: preview.SetID(testRelease), preview.LabelRelease: testRelease.Name},
			"annotations": map[string]any{preview.AnnotationTool: "kubectl-operator/v1.0.0"},
		},
		"data": map[string]any{
			keyVersion: base64.StdEncoding.EncodeToString([]byte(recordVersion)),
			keyRecord:  base64.StdEncoding.EncodeToString(packed),
		},
	}
}

func TestARecordSaysNothingOfItsOwnSignature(t *testing.T) {
	written := testRecord(t)
	written.Signature = &preview.RecordSignature{Key: "sha256:0000"}
	data, err := json.Marshal(written)
	if err != nil {
		t.Fatal(err)
	}
	var forged map[string]any
	if err := json.Unmarshal(data, &forged); err != nil {
		t.Fatal(err)
	}
	forged["Signature"] = map[string]any{"key": "sha256:0000"}
	for name, record := range map[string]any{"written": written, "forged": forged} {
		read, err := Decode(t.Context(), nil, secretOf(t, record))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if read.Signature != nil {
			t.Errorf("%s: before it is verified the record is %s", name, read.Signature)
		}
	}
}

func TestDecodeRecordRefuses(t *testing.T) {
	tests := []struct {
		name   string
		change func(record *Record, secret map[string]any)
		want   string
	}{
		{"a record of another release", func(r *Record, _ map[string]any) { r.Release.Name = "other" }, "release"},
		{"a revision below 1", func(r *Record, _ map[string]any) { r.Revision = 0 }, "revision"},
		{"a state that is none", func(r *Record, _ map[string]any) { r.State = "perfect" }, "state"},
		{"more parts than a record may have", func(r *Record, _ map[string]any) { r.Archive.Parts = 1 << 30 }, "parts"},
		{"an item without a name", func(r *Record, _ map[string]any) { r.Inventory = []Item{{Kind: "ConfigMap"}} }, "inventory"},
		{"a Secret of another tool", func(_ *Record, s map[string]any) {
			preview.Map(s, "metadata", "annotations")[preview.AnnotationTool] = "kubectl/v1.37"
		}, "tool"},
		{"a Secret that is no ApplySet parent", func(_ *Record, s map[string]any) { delete(preview.Map(s, "metadata"), "labels") }, "label"},
		{"an object that a package of another release brought", func(_ *Record, s map[string]any) {
			preview.Map(s, "metadata", "labels")[preview.LabelRelease] = "bait"
		}, `an object of release "bait"`},
		{"a member of a set", func(_ *Record, s map[string]any) {
			preview.Map(s, "metadata", "labels")[preview.LabelPartOf] = preview.SetID(testRelease)
		}, "not as the record of this one"},
		{"another type of Secret", func(_ *Record, s map[string]any) { s["type"] = "Opaque" }, "its type is"},
		{"a format of the future", func(_ *Record, s map[string]any) {
			preview.Map(s, "data")[keyVersion] = base64.StdEncoding.EncodeToString([]byte("2"))
		}, "version"},
		{"no record at all", func(_ *Record, s map[string]any) { delete(preview.Map(s, "data"), keyRecord) }, "record"},
		{"bytes that are no record", func(_ *Record, s map[string]any) { preview.Map(s, "data")[keyRecord] = "aGVsbG8=" }, "not a record"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			record := testRecord(t)
			tt.change(record, secretOf(t, record))
			secret := secretOf(t, record)
			tt.change(&Record{}, secret)
			if _, err := Decode(t.Context(), nil, secret); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want an error that says %q", err, tt.want)
			}
		})
	}
	if got, err := Decode(t.Context(), nil, secretOf(t, testRecord(t))); err != nil || got.Digest != testRecord(t).Digest {
		t.Errorf("an honest record: %v, %v", got, err)
	}
}

// barePlan has no Secret: hashing one is slow, and each fuzz worker would.
func barePlan(t testing.TB) *preview.Plan {
	t.Helper()
	p := &preview.Plan{Release: testRelease, ReadMode: preview.ReadDryRun, Objects: []preview.Object{{
		ID: "core/ConfigMap/ns/a", APIVersion: "v1", Kind: "ConfigMap", Namespace: "ns", Name: "a",
		Action: preview.ActionCreate, Planned: map[string]any{"kind": "ConfigMap", "data": map[string]any{"n": int64(1)}},
	}}}
	if err := p.Seal(); err != nil {
		t.Fatal(err)
	}
	return p
}

// Both targets get the text inside the packing: gzip's checksum would keep
// almost every other input out.
func FuzzDecodeRecord(f *testing.F) {
	text, err := json.Marshal(New(barePlan(f), Approval{How: ApprovedByDigest}, nil, "1.0.0", time.Time{}))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Fuzz(func(t *testing.T, text []byte) {
		packed, err := compress(text)
		if err != nil {
			t.Fatal(err)
		}
		r, err := decodeHeader(packed, testRelease, releaseBounds())
		if err == nil && (r.Release != testRelease || r.Revision < 1 || r.State == "") {
			t.Errorf("accepted %+v", r)
		}
	})
}

func FuzzDecodeArchive(f *testing.F) {
	plan := barePlan(f)
	parts, _, err := encodeArchive(plan)
	if err != nil {
		f.Fatal(err)
	}
	text, err := decompress(parts[0], maxArchive)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Fuzz(func(t *testing.T, text []byte) {
		packed, err := compress(text)
		if err != nil {
			t.Fatal(err)
		}
		archive := Archive{Parts: 1, Bytes: len(packed), SHA256: preview.HashBytes(packed)}
		got, err := decodeArchive([][]byte{packed}, archive, plan.Digest)
		if err != nil {
			return
		}
		if digest, err := got.Facts().Digest(); err != nil || digest != plan.Digest {
			t.Errorf("accepted a plan that hashes to %s, %v", digest, err)
		}
	})
}

func TestRecordStates(t *testing.T) {
	all := []State{Pending, Applying, Applied, Failed, Abandoned, Uninstalled}
	for _, from := range all {
		for _, to := range all {
			if from.CanBecome(to) && !from.Unfinished() {
				t.Errorf("%s is final and can become %s", from, to)
			}
		}
		// Whatever was begun can be ended: by going on, or by a newer revision.
		if from.Unfinished() && (!from.CanBecome(Applying) || !from.CanBecome(Abandoned)) {
			t.Errorf("%s cannot be resumed or abandoned", from)
		}
	}
}

func TestInventoryFollowsTheWrites(t *testing.T) {
	plan := archivePlan(t, 1)
	before := &Record{Inventory: []Item{
		{APIVersion: "v1", Kind: "ConfigMap", Namespace: "ns", Name: "gone", UID: "1"},
		{APIVersion: "v1", Kind: "ConfigMap", Namespace: "ns", Name: "c0", UID: "2"},
	}}
	record := New(plan, Approval{}, before, "1", time.Time{})
	if len(record.Inventory) != 1 || record.Inventory[0].UID != "2" {
		t.Fatalf("a new record owns %v, want what the plan still lists", record.Inventory)
	}
	configMap, secret := &plan.Objects[0], &plan.Objects[1]
	record.AddToInventory(configMap, "")
	record.AddToInventory(secret, "")
	if len(record.Inventory) != 2 || record.Inventory[0].UID != "2" {
		t.Errorf("the intent made %v: it must add, and forget no uid", record.Inventory)
	}
	record.DropIntents(secret.ID, configMap.ID)
	if len(record.Inventory) != 1 || record.Inventory[0].Name != "c0" {
		t.Errorf("taking the intents back left %v, want what was owned before", record.Inventory)
	}
	if got := record.groupKinds(plan.Objects); got != "ConfigMap,Secret" {
		t.Errorf("the superset of kinds is %q", got)
	}
	if got := record.groupKinds(nil); got != "ConfigMap" {
		t.Errorf("the exact kinds are %q", got)
	}
	record.RemoveFromInventory(configMap.ID)
	if got := record.groupKinds(nil); got != "" {
		t.Errorf("nothing is left, and the kinds are %q", got)
	}
}

func TestAcceptedFindingsAreCarriedOnWhileTheyExist(t *testing.T) {
	plan := &preview.Plan{Findings: []preview.Finding{
		{Fingerprint: "new", Severity: preview.Critical},
		{Fingerprint: "old", Severity: preview.Warning, AcceptedIn: 2},
		{Fingerprint: "harmless", Severity: preview.Warning},
	}}
	got := AcceptedFindings(plan, &Record{Accepted: map[string]int{"old": 2, "vanished": 1}}, 5)
	if want := (map[string]int{"new": 5, "old": 2}); !reflect.DeepEqual(got, want) {
		t.Errorf("accepted %v, want %v", got, want)
	}
}

// A line of an archive is looked at once, however many reads bring it.
func TestLinesOfAnArchiveAreLookedAtOnce(t *testing.T) {
	text := "\n{\"plan\": 1}\n\n" + strings.Repeat("x", 5000) + "\n{\"last\": \"without an end\"}"
	lines := bufio.NewScanner(iotest.OneByteReader(strings.NewReader(text)))
	lines.Split(splitLines())
	var got []string
	for lines.Scan() {
		got = append(got, lines.Text())
	}
	if want := strings.Split(text, "\n"); lines.Err() != nil || !slices.Equal(got, want) {
		t.Errorf("%v: got %q, want %q", lines.Err(), got, want)
	}

	// The earlier text does not end its line: if it does now, it was not looked at.
	split := splitLines()
	if advance, line, err := split([]byte("abcd"), false); advance != 0 || line != nil || err != nil {
		t.Errorf("a line that is not complete: %d, %q, %v", advance, line, err)
	}
	if advance, line, err := split([]byte("a\ncdef\nrest"), false); advance != 7 || string(line) != "a\ncdef" || err != nil {
		t.Errorf("what was looked at is looked at again: %d, %q, %v", advance, line, err)
	}
}
