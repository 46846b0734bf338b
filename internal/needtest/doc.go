// Package needtest is what tests ask of the machine that they run on: the project's
// own folder, the shared test data, programs. It is imported by tests alone, and by
// the rooms that are.
//
// What is missing skips a test, which says what it lacks. Where the environment says
// FETTLE_TEST_REQUIRE=all the machine claims to have everything, and the test fails.
// The shared test data is where FETTLE_SHARED says, else in ../shared from the
// project's folder; a FETTLE_SHARED that leads nowhere is a failure in any case.
package needtest
