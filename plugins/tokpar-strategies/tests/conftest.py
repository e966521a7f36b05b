from tests.support.wing_fixtures import *  # noqa: F403
