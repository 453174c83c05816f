// Package defaulted separates what the API server adds to every object, its defaults, from
// what the admission of one cluster adds: its webhooks and policies.
//
// No request answers that. A dry run has both in one, and no field manager owns either. So
// the defaults of the built-in kinds are listed here, with the fields that follow from
// others of the same object completed first. Other fields count as added by admission: in a
// custom resource, every field that the schema of its CRD does not default.
//
// A default that a later version of Kubernetes brings is then shown in a review as an
// addition, where a trial could be made, and is sealed with it. It is never passed over in
// silence.
package defaulted
