// What the lab adds to vkms, included by its vkms_connector.c: monitors of the device "wall" tell an EDID that tests write (debugfs,
// edid_override), take what is said about light, and can wait for frames; and a link breaks when a test says so.

static enum drm_connector_status lab_status(struct drm_connector *connector, const struct vkms_config_connector *config)
{
	if (vkms_config_connector_get_status(config) != connector_status_unknown)
		return vkms_config_connector_get_status(config);
	// Told once, as by a driver whose training of the link has failed.
	vkms_config_connector_set_status((struct vkms_config_connector *)config, connector_status_connected);
	connector->state->link_status = DRM_MODE_LINK_STATUS_BAD;
	return connector_status_connected;
}

// Of the EDID that a test wrote; without one, what an earlier one said is forgotten.
static int lab_modes(struct drm_connector *connector)
{
	int count = drm_edid_override_connector_update(connector);

	if (!count)
		drm_edid_connector_update(connector, NULL);
	return count;
}

static void lab_attach(struct vkms_device *device, struct drm_connector *connector)
{
	if (strcmp(device->config->dev_name, "wall"))
		return;
	connector->funcs->reset(connector);
	drm_connector_attach_edid_property(connector);
	drm_connector_attach_max_bpc_property(connector, 8, 12);
	drm_connector_attach_hdr_output_metadata_property(connector);
	if (!drm_mode_create_hdmi_colorspace_property(connector, 0))
		drm_connector_attach_colorspace_property(connector);
	drm_connector_attach_vrr_capable_property(connector);
	drm_connector_set_vrr_capable_property(connector, true);
}
