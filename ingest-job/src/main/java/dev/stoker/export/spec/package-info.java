/** The specification of an export: order, shards, columns. Values without behaviour at run time. */
package dev.stoker.export.spec;
