package risk

// surroundingRules are about the namespaces that pods of the plan go into.
// They look at several objects and at reads together, so they have no matcher
// in the table.
func surroundingRules() []entry {
	return []entry{
		{Rule: podSecurityRefused()}, {Rule: podSecurityWarned()}, {Rule: podSecurityRelaxed(), object: relaxed}, {Rule: quotaRefused()}, {Rule: quotaUnread()},
		{Rule: imagePlatform()}, {Rule: nodesUnread()}, {Rule: waysUnread()},
	}
}
