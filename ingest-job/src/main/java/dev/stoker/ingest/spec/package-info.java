/**
 * What both ingests are told: rules for labels, splits and sidecar files, checks of locations and targets, and the
 * errors of an ingest that cannot start. Depends on no other package of this module.
 */
package dev.stoker.ingest.spec;
