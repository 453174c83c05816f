package plugins

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// KindReceipt is the kind of the receipt of an installed generation.
const KindReceipt = "PluginReceipt"

// The states of a generation. One that is pending and not the current one is
// what an interrupted install left.
const (
	StatePending   = "pending"
	StateInstalled = "installed"
	// StateFound is the state of generation 0: files that were there before the
	// first install.
	StateFound = "found"
	// StateCleaned is the state of a clean that has deleted all that it had to.
	StateCleaned = "cleaned"
)

// Receipt records what was approved and installed as a generation, or deleted by a
// clean. It is stored next to the files of the generation.
type Receipt struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Generation int    `json:"generation"`
	// From is the generation that was the current one before, Restores the one
	// whose files these are again.
	From     int    `json:"from"`
	Restores *int   `json:"restores,omitempty"`
	State    string `json:"state"`
	// TookOver says that files which were there before became generation 0.
	TookOver bool `json:"tookOver,omitempty"`

	// Location is the directory it was installed to; of a clean the folder of the generations.
	Location preview.Location `json:"location,omitzero"`

	Set      string `json:"set"`
	Version  string `json:"version"`
	Format   string `json:"format"`
	Platform string `json:"platform"`
	Config   string `json:"config"` // sha256 of the settings of the host; may be empty

	Digest        string          `json:"digest"` // of the plan
	ContentDigest string          `json:"contentDigest"`
	Approval      record.Approval `json:"approval"`
	Tool          string          `json:"tool"`
	Started       time.Time       `json:"started"`
	Finished      time.Time       `json:"finished,omitzero"`

	Files []ReceiptFile `json:"files"`
	// Removed are files of the generation before that this one does not have; a clean lists
	// the files of the generations that it removes, below their folder.
	Removed []ReceiptFile `json:"removed,omitempty"`
}

// ReceiptFile is one file of a generation.
type ReceiptFile struct {
	Path     string `json:"path"`
	Mode     string `json:"mode"` // four octal digits
	Size     int64  `json:"size"`
	SHA256   string `json:"sha256"`
	Origin   string `json:"origin,omitempty"`
	Contents string `json:"contents,omitempty"`
	// Action is the change of the file against the generation before.
	Action preview.Action `json:"action,omitempty"`
}

// newPendingReceipt returns the receipt of a generation that is about to be installed.
func newPendingReceipt(plan *preview.Plan, approval record.Approval, tool string, now time.Time) *Receipt {
	pkg := plan.Packages[0]
	r := &Receipt{
		APIVersion: preview.APIVersion, Kind: KindReceipt, Generation: plan.Generation.To, From: plan.Generation.From,
		Restores: plan.Generation.Restores, State: StatePending, Location: *plan.Location,
		Set: pkg.Name, Version: pkg.Version, Format: pkg.Format, Platform: plan.Platform, Config: pkg.Parameters.Values,
		Digest: plan.Digest, ContentDigest: plan.ContentDigest, Approval: approval, Tool: tool, Started: now,
		Files: []ReceiptFile{},
	}
	for _, f := range plan.Files {
		if f.Action != preview.ActionDelete {
			r.Files = append(r.Files, ReceiptFile{f.Path, f.Mode, f.Size, f.SHA256, f.Origin, f.Contents, f.Action})
		}
	}
	r.Removed = removedFiles(plan)
	return r
}

// removedFiles returns the files that a plan deletes.
func removedFiles(plan *preview.Plan) []ReceiptFile {
	var out []ReceiptFile
	for _, f := range plan.Files {
		if f.Action == preview.ActionDelete {
			out = append(out, ReceiptFile{Path: f.Path, Mode: f.Live.Mode, SHA256: f.Live.SHA256, Action: f.Action})
		}
	}
	return out
}

// newFoundReceipt returns the receipt of generation 0: the files that were at
// the location before the first install.
func newFoundReceipt(plan *preview.Plan, now time.Time) *Receipt {
	r := &Receipt{
		APIVersion: preview.APIVersion, Kind: KindReceipt, State: StateFound, Location: *plan.Location, Set: plan.Release.Name, Format: "files",
		Platform: plan.Platform, Started: now, Finished: now, Files: []ReceiptFile{},
	}
	for _, f := range plan.Files {
		if f.Live != (preview.LiveFile{}) {
			r.Files = append(r.Files, ReceiptFile{Path: f.Path, Mode: f.Live.Mode, SHA256: f.Live.SHA256})
		}
	}
	return r
}

// Encode returns the receipt as the content of its file.
func (r *Receipt) Encode() ([]byte, error) {
	data, err := json.MarshalIndent(r, "", "  ")
	return append(data, '\n'), err
}

// expectedFiles returns the files, by path, that the generation must have on disk.
func (r *Receipt) expectedFiles() map[string]preview.LiveFile {
	out := map[string]preview.LiveFile{}
	for _, f := range r.Files {
		out[f.Path] = preview.LiveFile{SHA256: f.SHA256, Mode: f.Mode}
	}
	return out
}

// Install returns the receipt as a [record.Receipt], which all applies report.
// Its target is HOST:PATH of the location.
func (r *Receipt) Install() *record.Receipt {
	out := &record.Receipt{
		Release: preview.Release{Name: r.Set}, Revision: r.Generation, Digest: r.Digest, ContentDigest: r.ContentDigest,
		Approval: r.Approval, Started: r.Started, Finished: r.Finished, State: r.State, Objects: []record.ObjectReceipt{},
	}
	if r.Location != (preview.Location{}) {
		out.Target = r.Location.Host + ":" + r.Location.Path
	}
	for _, f := range r.Files {
		out.Objects = append(out.Objects, record.ObjectReceipt{ID: "file/" + f.Path, Action: f.Action, State: record.StateReady, Digest: "sha256:" + f.SHA256})
	}
	for _, f := range r.Removed {
		out.Objects = append(out.Objects, record.ObjectReceipt{ID: "file/" + f.Path, Action: f.Action, State: record.StateRemoved, Digest: "sha256:" + f.SHA256})
	}
	return out
}

// ReadReceipt reads the receipt of a generation. Everyone who can write at the
// location can write receipts, so files are compared with it before it is used.
func ReadReceipt(location string, generation int) (*Receipt, error) {
	data, err := readSmall(filepath.Join(location+generationsSuffix, strconv.Itoa(generation), receiptFile))
	if err != nil {
		return nil, fmt.Errorf("reading its receipt: %w", err)
	}
	r := &Receipt{}
	if err := json.Unmarshal(data, r); err != nil {
		return nil, fmt.Errorf("its receipt is not what this tool writes: %w", err)
	}
	if r.Kind != KindReceipt || r.APIVersion != preview.APIVersion || r.Generation != generation {
		return nil, errors.New("its receipt belongs to another generation")
	}
	return r, nil
}
