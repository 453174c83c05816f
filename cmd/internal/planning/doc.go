// Package planning makes plans of what was asked for: references, request files
// and plugin sets are resolved, fetched, checked, rendered and handed to the
// engine. It knows no command line, prints nothing, and reaches the cluster
// through interfaces.
package planning
