package main

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// spdxDocument and the types after it are the parts that are used of an SPDX
// 2.3 document (its clauses 6, 7 and 11).
type spdxDocument struct {
	Version       string             `json:"spdxVersion"`
	DataLicence   string             `json:"dataLicense"`
	ID            string             `json:"SPDXID"`
	Name          string             `json:"name"`
	Namespace     string             `json:"documentNamespace"`
	Creation      spdxCreation       `json:"creationInfo"`
	Packages      []spdxPackage      `json:"packages"`
	Relationships []spdxRelationship `json:"relationships"`
}

type spdxCreation struct {
	Created  string   `json:"created"`
	Creators []string `json:"creators"`
}

type spdxPackage struct {
	Name      string         `json:"name"`
	ID        string         `json:"SPDXID"`
	Version   string         `json:"versionInfo"`
	Supplier  string         `json:"supplier"`
	Download  string         `json:"downloadLocation"`
	Analysed  bool           `json:"filesAnalyzed"`
	Checksums []spdxChecksum `json:"checksums,omitempty"`
	Concluded string         `json:"licenseConcluded"`
	Declared  string         `json:"licenseDeclared"`
	Copyright string         `json:"copyrightText"`
	Purpose   string         `json:"primaryPackagePurpose,omitempty"`
	External  []spdxExternal `json:"externalRefs,omitempty"`
}

type spdxChecksum struct {
	Algorithm string `json:"algorithm"`
	Value     string `json:"checksumValue"`
}

type spdxExternal struct {
	Category string `json:"referenceCategory"`
	Type     string `json:"referenceType"`
	Locator  string `json:"referenceLocator"`
}

type spdxRelationship struct {
	From string `json:"spdxElementId"`
	Type string `json:"relationshipType"`
	To   string `json:"relatedSpdxElement"`
}

const unsaid = "NOASSERTION"

// bill returns the software bill of materials: the archives, the program in
// them, and the modules that are linked into it.
func (r *release) bill(modules []module) spdxDocument {
	d := spdxDocument{
		Version: "SPDX-2.3", DataLicence: "CC0-1.0", ID: "SPDXRef-DOCUMENT", Name: name + "-" + r.number(),
		Namespace: home + "/releases/download/" + url.PathEscape(r.version) + "/" + r.billName() + "#" + r.commit,
		Creation:  spdxCreation{r.time.Format(time.RFC3339), []string{"Tool: " + name + "-release", "Organization: " + name}},
	}
	program := spdxPackage{
		Name: name, ID: "SPDXRef-program", Version: r.version, Supplier: "Organization: " + name, Download: "git+" + home + "@" + r.commit,
		Concluded: identify(string(r.terms)), Declared: identify(string(r.terms)), Copyright: unsaid, Purpose: "APPLICATION",
		External: []spdxExternal{{"PACKAGE-MANAGER", "purl", "pkg:golang/github.com/kubectl-operator/kubectl-operator@" + r.version}},
	}
	d.Packages = append(d.Packages, program)
	d.relate("SPDXRef-DOCUMENT", "DESCRIBES", program.ID)
	for _, b := range r.builds {
		archive := spdxPackage{
			Name: b.archive, ID: "SPDXRef-archive-" + b.os + "-" + b.arch, Version: r.version, Supplier: "Organization: " + name,
			Download: r.download(b), Checksums: []spdxChecksum{{"SHA256", b.sum}}, Concluded: unsaid, Declared: unsaid, Copyright: unsaid, Purpose: "ARCHIVE",
		}
		d.Packages = append(d.Packages, archive)
		d.relate(archive.ID, "CONTAINS", program.ID)
	}
	for i, m := range modules {
		id := fmt.Sprintf("SPDXRef-module-%d-%s", i, unfit.ReplaceAllString(m.path, "-"))
		d.Packages = append(d.Packages, spdxPackage{
			Name: m.path, ID: id, Version: m.version, Supplier: unsaid, Download: unsaid, Concluded: m.identifiers(), Declared: m.identifiers(),
			Copyright: unsaid, Purpose: "LIBRARY", External: []spdxExternal{{"PACKAGE-MANAGER", "purl", "pkg:golang/" + strings.ToLower(m.path) + "@" + m.version}},
		})
		d.relate(program.ID, "DEPENDS_ON", id)
	}
	return d
}

// unfit matches characters that an SPDX identifier must not have.
var unfit = regexp.MustCompile(`[^A-Za-z0-9.-]+`)

func (d *spdxDocument) relate(from, how, to string) {
	d.Relationships = append(d.Relationships, spdxRelationship{from, how, to})
}

func (r *release) billName() string { return name + "_" + r.number() + ".spdx.json" }

func (r *release) writeBill(modules []module) error {
	data, err := json.MarshalIndent(r.bill(modules), "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.out, r.billName()), append(data, '\n'), 0o644)
}

// download returns the URL of an archive.
func (r *release) download(b build) string {
	return home + "/releases/download/" + r.version + "/" + b.archive
}
